#include <fmt/format.h>
#include <kernels/numerics/tensor_core.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <tinymp/base/error.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/gzip.h>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

namespace tinymp::lab {
namespace {

using kernels::TensorCore;

TensorCore hopper(int fraction_bits) {
  TensorCore core = kernels::tensor_core(kernels::Gpu::h100, kernels::Operand::e4m3);
  core.fraction_bits = fraction_bits;
  return core;
}

/// A block that an H100 computed: d = a . b of 32 products.
struct Block {
  std::vector<float> a, b;
  float d;
};

/// The blocks that Khattak and Mikaitis recorded; none where they are not here.
std::vector<Block> recorded() {
  const char* const data = std::getenv("TINYMP_DATA");
  const std::string path = concat(data == nullptr ? "datasets" : data, "/tensor_core/h100_e4m3.txt.gz");
  if (!std::filesystem::exists(path)) return {};
  const std::vector<std::uint8_t> bytes = data::read_maybe_gzip(path, "");
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  std::vector<Block> blocks;
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::vector<float> numbers;
    for (std::string word; words >> word;)
      numbers.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16))));
    expect(numbers.size() == 66, path, ": a line has ", numbers.size(), " numbers, not 66");
    blocks.push_back({{numbers.begin(), numbers.begin() + 32},
                      {numbers.begin() + 32, numbers.begin() + 64},
                      numbers.back()});
  }
  return blocks;
}

void compare_with_hardware(Lab& lab) {
  const std::vector<Block> blocks = recorded();
  if (blocks.empty()) {
    lab.say("\nThe blocks that an H100 computed are not here ($TINYMP_DATA/tensor_core).");
    return;
  }
  lab.say(fmt::format("\n{} blocks of 32 products in E4M3, computed by an H100", blocks.size()));
  lab.say("  bits after the point   blocks that the model gets wrong");
  for (const int bits : {12, 13, 14, 22}) {
    int wrong = 0;
    for (const Block& block : blocks) {
      const float d = kernels::tensor_core_dot(hopper(bits), block.a.data(), block.b.data(), 32, 0);
      wrong += std::bit_cast<std::uint32_t>(d) != std::bit_cast<std::uint32_t>(block.d);
    }
    lab.say(fmt::format("  {:>20} {:>34}", bits, wrong));
    lab.number(fmt::format("H100: wrong blocks with {} bits", bits), wrong);
    if (bits == 13)
      lab.claim(wrong == 0, fmt::format("13 bits after the point: {} of {} recorded blocks differ", wrong,
                                        blocks.size()),
                Lab::Judged::in_smoke_too);
  }
}

/// A long sum on Hopper, moved into FP32 after so many terms; 0: never.
double on_hopper(const std::vector<float>& a, const std::vector<float>& b, std::size_t promote_every) {
  const std::size_t part = promote_every == 0 ? a.size() : promote_every;
  float sum = 0;
  for (std::size_t k = 0; k < a.size(); k += part)
    sum += kernels::tensor_core_dot(hopper(13), a.data() + k, b.data() + k, static_cast<std::int64_t>(part), 0);
  return static_cast<double>(sum);
}

/// Relative error of sums of `terms` products of E4M3 numbers from 0 to 1, the mean over some sums, in %.
struct Errors {
  double never = 0, promoted = 0, f32 = 0;
};
Errors errors_of_sums(std::size_t terms) {
  constexpr int sums = 20;
  Rng rng(terms);
  Errors all;
  for (int i = 0; i < sums; ++i) {
    std::vector<float> a(terms), b(terms);
    double exact = 0;
    float chain = 0;
    for (std::size_t k = 0; k < terms; ++k) {
      a[k] = kernels::round_to(kernels::Operand::e4m3, rng.uniform(0, 1));
      b[k] = kernels::round_to(kernels::Operand::e4m3, rng.uniform(0, 1));
      exact += static_cast<double>(a[k]) * static_cast<double>(b[k]);
      chain += a[k] * b[k];
    }
    const auto error = [&](double x) { return 100 * std::abs(x / exact - 1) / sums; };
    all.never += error(on_hopper(a, b, 0));
    all.promoted += error(on_hopper(a, b, 128));
    all.f32 += error(static_cast<double>(chain));
  }
  return all;
}

}  // namespace

void show_accumulators(Lab& lab) {
  compare_with_hardware(lab);
  lab.say("\nSums of E4M3 products from 0 to 1, relative error (%)");
  lab.say("       K    13 bits   moved to FP32 every 128       FP32");
  for (const std::size_t terms : {std::size_t{128}, std::size_t{1024}, std::size_t{4096}, std::size_t{16384}}) {
    const Errors found = errors_of_sums(terms);
    lab.say(fmt::format("  {:>6} {:>10} {:>25} {:>10}", terms, fixed(found.never, 3), fixed(found.promoted, 3),
                        fixed(found.f32, 5)));
    lab.number(fmt::format("13 bits, K = {}: error (%)", terms), found.never);
    lab.number(fmt::format("promoted every 128, K = {}: error (%)", terms), found.promoted);
    if (terms < 16384) continue;
    lab.claim(found.never >= 10 * found.promoted,
              fmt::format("a sum of {} on Hopper is off by {} %, moved to FP32 every 128 terms by {} %", terms,
                          fixed(found.never, 2), fixed(found.promoted, 3)),
              Lab::Judged::in_smoke_too);
  }
}

}  // namespace tinymp::lab
