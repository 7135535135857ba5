#include <fmt/format.h>
#include <kernels/emu/chip.h>
#include <kernels/numerics/tensor_core.h>
#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/gpu_check.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/half.h>
#include <bit>
#include <cctype>
#include <cmath>
#include <optional>

// Compares the tensor core of this GPU with its model in kernels/numerics.
namespace tinymp::lab::gpu_check {
namespace {

using namespace kernels;
constexpr int side = 16, tile = side * side;

/// The model of this GPU's tensor core; empty when there is none.
std::optional<Gpu> model_of(const bench::Machine& machine) {
  if (machine.emulated) return emu::machine::chip();
  for (const Gpu gpu : {Gpu::h100, Gpu::h200, Gpu::b200, Gpu::a100}) {
    std::string name(name_of(gpu));
    for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    if (machine.name.find(name) != std::string::npos) return gpu;
  }
  switch (machine.architecture) {
    case 80:
      return Gpu::a100;
    case 89:
      return Gpu::ada;
    case 90:
      return Gpu::h100;
    case 100:
      return Gpu::b200;
    default:
      return std::nullopt;
  }
}

/// Draws numbers of the operand's format. Their exponents lie so far apart that sums lose bits.
std::vector<float> draw(Rng& rng, int count, Operand operand) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    const float power = std::bit_cast<float>(static_cast<std::uint32_t>(127 - 8 + rng.below(17)) << 23);
    const float value = rng.uniform(-2, 2);
    const bool zero = rng.below(16) == 0;
    values.push_back(zero ? 0 : round_to(operand, value * power));
  }
  return values;
}

template <class T>
std::vector<T> narrow(const std::vector<float>& values) {
  std::vector<T> result;
  for (const float v : values) result.push_back(static_cast<T>(v));
  return result;
}

template <class T>
bench::Memory uploaded(bench::Executor& executor, const std::vector<T>& values) {
  bench::Memory memory(executor, values.size() * sizeof(T));
  executor.upload(memory.data(), values.data(), values.size() * sizeof(T));
  return memory;
}

/// The number of elements of d that differ in bits from the model's.
template <class T>
std::int64_t mismatches(bench::Executor& executor, const TensorCore& core, Operand operand, Format format,
                        int tiles) {
  Rng rng(2021);
  const std::vector<float> a = draw(rng, tiles * tile, operand), b = draw(rng, tiles * tile, operand);
  std::vector<float> c(a.size()), d(a.size());
  for (float& x : c) x = rng.uniform(-64, 64);
  const bench::Memory a_there = uploaded(executor, narrow<T>(a)), b_there = uploaded(executor, narrow<T>(b)),
                      c_there = uploaded(executor, c), d_there = uploaded(executor, d);
  executor.tiles({.format = format,
                  .count = tiles,
                  .a = a_there.data(),
                  .b = b_there.data(),
                  .c = static_cast<const float*>(c_there.data()),
                  .d = static_cast<float*>(d_there.data())});
  executor.download(d.data(), d_there.data(), d.size() * sizeof(float));

  std::int64_t wrong = 0;
  for (std::size_t e = 0; e < d.size(); ++e) {
    const std::size_t first = e / tile * tile, row = e % tile / side, col = e % side;
    float column[side];
    for (std::size_t k = 0; k < side; ++k) column[k] = b[first + k * side + col];
    const float expected = tensor_core_dot(core, &a[first + row * side], column, side, c[e]);
    const bool both_nan = std::isnan(expected) && std::isnan(d[e]);
    wrong += !both_nan && std::bit_cast<std::uint32_t>(expected) != std::bit_cast<std::uint32_t>(d[e]);
  }
  return wrong;
}

}  // namespace

Finding check_bits(const Setting& setting) {
  const std::unique_ptr<bench::Executor> executor = bench::executor();
  const bench::Machine machine = executor->machine();
  const std::optional<Gpu> gpu = model_of(machine);
  if (!gpu) {
    return {.state = State::left_out,
            .summary = fmt::format("there is no model of the tensor cores of {} (sm_{})", machine.name,
                                   machine.architecture)};
  }
  const int tiles = setting.emulated ? 8 : 4096;
  Finding finding{.table = {{"operands", "model", "elements", "mismatches"}}};
  std::int64_t all_wrong = 0;
  const auto compare = [&]<class T>(Operand operand, Format format, T) {
    const std::int64_t wrong = mismatches<T>(*executor, tensor_core(*gpu, operand), operand, format, tiles);
    all_wrong += wrong;
    finding.table.push_back({std::string(name_of(operand)), std::string(name_of(*gpu)),
                             std::to_string(tiles * tile), std::to_string(wrong)});
    keep(finding, setting,
         {{"operands", name_of(operand)},
          {"model", name_of(*gpu)},
          {"elements", tiles * tile},
          {"mismatches", wrong}});
  };
  compare(Operand::fp16, Format::f16, half(0.0f));
  if (machine.architecture >= 80) compare(Operand::bf16, Format::bf16, bfloat16(0.0f));
  finding.state = all_wrong == 0 ? State::good : State::bad;
  finding.summary = all_wrong == 0
                        ? fmt::format("the model of {} has every bit", name_of(*gpu))
                        : fmt::format("{} elements differ from the model of {}", all_wrong, name_of(*gpu));
  return finding;
}

}  // namespace tinymp::lab::gpu_check
