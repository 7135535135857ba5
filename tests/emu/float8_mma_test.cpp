#include <kernels/cuda/ptx.h>
#include <kernels/emu/chip.h>
#include <tests/emu/rig.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/gzip.h>
#include <bit>
#include <cstdlib>
#include <filesystem>
#include <sstream>

/// mma.sync.m16n8k32 of FP8: which lane holds what, and how chips add.
namespace tinymp::test {
namespace {

using kernels::Gpu;
using kernels::Instruction;
using kernels::Operand;

class WithChip {
 public:
  explicit WithChip(machine::Chip chip, Instruction instruction = Instruction::native) {
    machine::use_chip(chip);
    machine::use_float8_instruction(instruction);
  }
  ~WithChip() {
    machine::use_chip(before_);
    machine::use_float8_instruction(Instruction::native);
  }
  WithChip(const WithChip&) = delete;

 private:
  machine::Chip before_ = machine::chip();
};

/// One tile a block: a:(16,32) by rows, b:(8,32) by columns, d:(16,8).
template <class A, class B>
__global__ void multiply(const A* a, const B* b, float* d) {
  // PTX ISA, "Matrix Fragments for mma.m16n8k32": four neighbours along k in a register.
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  a += blockIdx.x * 16 * 32, b += blockIdx.x * 8 * 32, d += blockIdx.x * 16 * 8;
  const auto four = [](const auto* x, int row, int col) {
    std::uint32_t codes = 0;
    for (int i = 3; i >= 0; --i) codes = codes << 8 | x[row * 32 + col + i].bits();
    return codes;
  };
  const std::uint32_t left[4] = {four(a, g, 4 * t), four(a, g + 8, 4 * t), four(a, g, 4 * t + 16),
                                 four(a, g + 8, 4 * t + 16)};
  const std::uint32_t right[2] = {four(b, g, 4 * t), four(b, g, 4 * t + 16)};
  float sums[4] = {d[g * 8 + 2 * t], d[g * 8 + 2 * t + 1], d[(g + 8) * 8 + 2 * t],
                   d[(g + 8) * 8 + 2 * t + 1]};
  mma_m16n8k32<A, B>(sums, left, right);
  d[g * 8 + 2 * t] = sums[0], d[g * 8 + 2 * t + 1] = sums[1];
  d[(g + 8) * 8 + 2 * t] = sums[2], d[(g + 8) * 8 + 2 * t + 1] = sums[3];
}

template <class T>
std::vector<T> drawn(int n, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<T> values;
  while (static_cast<int>(values.size()) < n) {
    const T x = T::from_bits(static_cast<std::uint8_t>(rng.below(256)));
    if (isfinite(x) && std::abs(static_cast<float>(x)) < 100) values.push_back(x);
  }
  return values;
}

template <class T>
std::vector<float> floats(const T* x, int n) {
  std::vector<float> values;
  for (int i = 0; i < n; ++i) values.push_back(static_cast<float>(x[i]));
  return values;
}

/// The elements of a tile that are not what `sum` makes of row, column and c.
template <class A, class B, class Sum>
int wrong_elements(Sum sum) {
  const Array<A> a(drawn<A>(16 * 32, 1));
  const Array<B> b(drawn<B>(8 * 32, 2));
  const Array<float> d(128);
  Rng rng(3);
  std::vector<float> c;
  for (int i = 0; i < 128; ++i) c.push_back(d.data()[i] = rng.uniform(-300, 300));
  launch<multiply<A, B>>(1, 32, 0, nullptr, a.data(), b.data(), d.data());
  int wrong = 0;
  for (int m = 0; m < 16; ++m) {
    for (int n = 0; n < 8; ++n) {
      const std::vector<float> row = floats(a.data() + m * 32, 32), column = floats(b.data() + n * 32, 32);
      const float expected = sum(row, column, c[static_cast<std::size_t>(m * 8 + n)]);
      wrong += std::bit_cast<std::uint32_t>(expected) != std::bit_cast<std::uint32_t>(d.data()[m * 8 + n]);
    }
  }
  return wrong;
}

template <class A, class B>
void check_mix(Operand a, Operand b) {
  const auto chain = [](const std::vector<float>& row, const std::vector<float>& column, float c) {
    for (std::size_t k = 0; k < 32; ++k) c = std::fma(row[k], column[k], c);
    return c;
  };
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    CHECK((wrong_elements<A, B>(chain)) == 0);
  }
  for (const Gpu gpu : {Gpu::ada, Gpu::h100, Gpu::h200, Gpu::b200}) {
    for (const Instruction instruction : {Instruction::native, Instruction::mma_sync}) {
      const kernels::TensorCore core = kernels::tensor_core_of_mix(gpu, a, b, instruction);
      const auto simulated = [&](const std::vector<float>& row, const std::vector<float>& column, float c) {
        return kernels::tensor_core_dot(core, row.data(), column.data(), 32, c);
      };
      const WithChip with(gpu, instruction);
      INFO(name_of(gpu) << ", " << name_of(a) << " and " << name_of(b));
      CHECK((wrong_elements<A, B>(simulated)) == 0);
      CHECK((wrong_elements<A, B>(chain)) > 0);
    }
  }
}

TEST_CASE("mma.sync.m16n8k32: E4M3 and E5M2 in any mix, without a chip and as chips add") {
  check_mix<float8_e4m3, float8_e4m3>(Operand::e4m3, Operand::e4m3);
  check_mix<float8_e4m3, float8_e5m2>(Operand::e4m3, Operand::e5m2);
  check_mix<float8_e5m2, float8_e4m3>(Operand::e5m2, Operand::e4m3);
  check_mix<float8_e5m2, float8_e5m2>(Operand::e5m2, Operand::e5m2);
}

TEST_CASE("mma.sync.m16n8k32: a chip without FP8 refuses it") {
  const WithChip with(Gpu::a100);
  const Array<float8_e4m3> a(drawn<float8_e4m3>(16 * 32, 1)), b(drawn<float8_e4m3>(8 * 32, 2));
  const Array<float> d(std::vector<float>(128, 0.0f));
  CHECK_SAYS("the tensor cores of a100 do not take e4m3",
             launch<multiply<float8_e4m3, float8_e4m3>>(1, 32, 0, nullptr, a.data(), b.data(), d.data()));
}

TEST_CASE("mma.sync.m16n8k32: what an H100 recorded, with 13 bits and not as mma.sync") {
  const char* data = std::getenv("TINYMP_DATA");
  const std::string path = std::string(data == nullptr ? "." : data) + "/tensor_core/h100_e4m3.txt.gz";
  if (!std::filesystem::exists(std::filesystem::path(path).parent_path()))
    SKIP_TEST("no tensor_core/ in $TINYMP_DATA");
  const std::vector<std::uint8_t> bytes = data::read_maybe_gzip(path, "");
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  std::vector<float8_e4m3> a, b;
  std::vector<float> d;  // recorded with c = 0
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind('#', 0) == 0) continue;
    std::istringstream words(line);
    std::vector<float> w;
    for (std::string word; words >> word;)
      w.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16))));
    for (std::size_t k = 0; k < 32; ++k) a.push_back(float8_e4m3(w[k], Overflow::infinity));
    for (std::size_t k = 0; k < 32; ++k) b.push_back(float8_e4m3(w[32 + k], Overflow::infinity));
    d.push_back(w.back());
  }
  REQUIRE(d.size() == 5000);
  // Vector i of a tile is row i of a and column i of b, 8 of them in a tile.
  const auto wrong = [&](Instruction instruction) {
    const WithChip with(Gpu::h100, instruction);
    const std::size_t tiles = d.size() / 8;
    const Array<float8_e4m3> left(std::vector<float8_e4m3>(tiles * 16 * 32, float8_e4m3{})), right(b);
    for (std::size_t i = 0; i < d.size(); ++i)
      std::copy_n(a.data() + i * 32, 32, left.data() + (i / 8 * 16 + i % 8) * 32);
    const Array<float> sums(std::vector<float>(tiles * 128, 0.0f));
    launch<multiply<float8_e4m3, float8_e4m3>>(static_cast<unsigned>(tiles), 32, 0, nullptr, left.data(),
                                               right.data(), sums.data());
    int count = 0;
    for (std::size_t i = 0; i < d.size(); ++i)
      count += std::bit_cast<std::uint32_t>(sums.data()[i / 8 * 128 + i % 8 * 9]) !=
               std::bit_cast<std::uint32_t>(d[i]);
    return count;
  };
  CHECK(wrong(Instruction::native) == 0);
  CHECK(wrong(Instruction::mma_sync) > 2500);
}

}  // namespace
}  // namespace tinymp::test
