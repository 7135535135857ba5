#include <kernels/cuda/gemm/ladder.h>
#include <kernels/cuda/ptx.h>
#include <kernels/emu/chip.h>
#include <tests/base/child.h>
#include <tests/base/sanitized.h>
#include <tests/emu/rig.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/gzip.h>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <sstream>

// Emulated tensor cores with the arithmetic of a chip: against blocks that real ones computed, and longer
// sums against the simulator's.
namespace tinymp::test {
namespace {

using kernels::Accumulator;
using kernels::Gpu;
using kernels::Operand;
using machine::Chip;

constexpr Gpu gpus[] = {Gpu::v100, Gpu::a100, Gpu::ada, Gpu::h100, Gpu::h200, Gpu::b200};

class WithChip {
 public:
  explicit WithChip(Chip chip) { machine::use_chip(chip); }
  ~WithChip() { machine::use_chip(before_); }
  WithChip(const WithChip&) = delete;

 private:
  Chip before_ = machine::chip();
};

bool same_bits(float x, float y) {
  return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
}

// What was recorded.
// -----------------------------------------------------------------------------------------------

struct RecordedVector {
  std::vector<float> a, b;
  float c, d;
};

std::vector<RecordedVector> read(const std::string& path) {
  const std::vector<std::uint8_t> bytes = data::read_maybe_gzip(path, "");
  std::istringstream lines(std::string(bytes.begin(), bytes.end()));
  std::vector<RecordedVector> all;
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind('#', 0) == 0) continue;
    std::vector<float> w;  // a, b, c, d as binary32 patterns in hex
    std::istringstream words(line);
    for (std::string word; words >> word;)
      w.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(std::stoul(word, nullptr, 16))));
    const auto K = static_cast<std::ptrdiff_t>(w.size() / 2 - 1);
    all.push_back({{w.begin(), w.begin() + K}, {w.begin() + K, w.begin() + 2 * K}, w.end()[-2], w.back()});
  }
  return all;
}

/// d = a . b + c for one tile a block: in wmma's words, or (16 columns as twice 8) in those of PTX.
template <class T>
__global__ void by_wmma(const T* a, const T* b, float* d) {
  using namespace nvcuda;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::load_matrix_sync(left, a + blockIdx.x * 256, 16);
  wmma::load_matrix_sync(right, b + blockIdx.x * 256, 16);
  wmma::load_matrix_sync(sums, d + blockIdx.x * 256, 16, wmma::mem_row_major);
  wmma::mma_sync(sums, left, right, sums);
  wmma::store_matrix_sync(d + blockIdx.x * 256, sums, 16, wmma::mem_row_major);
}

template <class T>
__global__ void by_mma(const T* a, const T* b, float* d) {
  const unsigned g = threadIdx.x / 4, t = threadIdx.x % 4, tile = blockIdx.x * 256;
  const auto pair = [&](const T* x, unsigned row, unsigned col) {
    std::uint32_t bits;
    std::memcpy(&bits, x + tile + row * 16 + col, sizeof bits);
    return bits;
  };
  const std::uint32_t left[4] = {pair(a, g, 2 * t), pair(a, g + 8, 2 * t), pair(a, g, 2 * t + 8),
                                 pair(a, g + 8, 2 * t + 8)};
  for (unsigned n = 0; n < 16; n += 8) {
    const std::uint32_t right[2] = {pair(b, n + g, 2 * t), pair(b, n + g, 2 * t + 8)};
    float* const rows[2] = {d + tile + g * 16 + n + 2 * t, d + tile + (g + 8) * 16 + n + 2 * t};
    float sums[4] = {rows[0][0], rows[0][1], rows[1][0], rows[1][1]};
    mma_m16n8k16<T>(sums, left, right);
    for (unsigned i = 0; i < 4; ++i) rows[i / 2][i % 2] = sums[i];
  }
}

/// Vector i of a tile is row i of a and column i of b; its sum lies on the diagonal. Mismatches.
template <class T>
int mismatches(const std::vector<RecordedVector>& all, bool wmma) {
  const std::size_t tiles = (all.size() + 15) / 16;
  const Array<T> a(std::vector<T>(tiles * 256, T(0.0f))), b(std::vector<T>(tiles * 256, T(0.0f)));
  const Array<float> d(std::vector<float>(tiles * 256, 0.0f));
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::transform(all[i].a.begin(), all[i].a.end(), a.data() + i * 16, [](float x) { return T(x); });
    std::transform(all[i].b.begin(), all[i].b.end(), b.data() + i * 16, [](float x) { return T(x); });
    d.data()[i / 16 * 256 + i % 16 * 17] = all[i].c;
  }
  const auto blocks = static_cast<unsigned>(tiles);
  if (wmma) {
    launch<by_wmma<T>>(blocks, 32, 0, nullptr, a.data(), b.data(), d.data());
  } else {
    launch<by_mma<T>>(blocks, 32, 0, nullptr, a.data(), b.data(), d.data());
  }
  int wrong = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    wrong += !same_bits(d.data()[i / 16 * 256 + i % 16 * 17], all[i].d);
  return wrong;
}

TEST_CASE("chip: emulated kernels compute what real tensor cores did, bit for bit") {
  const char* data = std::getenv("TINYMP_DATA");
  const std::string folder = std::string(data == nullptr ? "." : data) + "/tensor_core/";
  if (!std::filesystem::exists(folder)) SKIP_TEST("no tensor_core/ in $TINYMP_DATA");
  const auto a100 = read(folder + "a100_fp16.txt.gz"), h100 = read(folder + "h100_fp16.txt.gz"),
             bf16 = read(folder + "h100_bf16.txt.gz");
  REQUIRE((a100.size() == 5000 && h100.size() == 5000 && bf16.size() == 5000));
  for (const bool wmma : {true, false}) {
    const auto on = [&](Chip chip, const auto& all) {
      const WithChip with(chip);
      return mismatches<__half>(all, wmma);
    };
    CHECK(on(Gpu::a100, a100) == 0);
    CHECK(on(Gpu::h100, h100) == 0);
    CHECK(on(Gpu::v100, a100) > 1000);  // the test can fail
    CHECK(on(Gpu::a100, h100) > 1000);
    CHECK(on(Chip(), h100) > 1000);
    const WithChip with(Gpu::h100);
    CHECK(mismatches<__nv_bfloat16>(bf16, wmma) == 0);
  }
}

// Longer sums.
// -----------------------------------------------------------------------------------------------

/// Elements of a . b on this rung that are not what the simulator makes of a whole row and column.
template <class T>
int wrong_elements(kernels::Rung rung, Gpu gpu, kernels::Sums sums) {
  constexpr int M = 32, N = 48, K = 80;
  const Array<T> a(M * K), b(K * N), c(M * N);
  Rng rng(1);
  for (int i = 0; i < M * K; ++i) a.data()[i] = T(rng.uniform(-1, 2));
  for (int i = 0; i < K * N; ++i) b.data()[i] = T(rng.uniform(-1, 2));
  constexpr bool fp16 = std::is_same_v<T, __half>;
  const WithChip with(gpu);
  const auto ran = kernels::emu::gemm(rung,
                                      {.M = M,
                                       .N = N,
                                       .K = K,
                                       .a = a.data(),
                                       .b = b.data(),
                                       .c = c.data(),
                                       .lda = K,
                                       .ldb = N,
                                       .ldc = N,
                                       .format = fp16 ? kernels::Format::f16 : kernels::Format::bf16,
                                       .sums = sums},
                                      nullptr);
  REQUIRE(ran == rung);
  const auto core = kernels::tensor_core(gpu, fp16 ? Operand::fp16 : Operand::bf16,
                                         sums == kernels::Sums::f16 ? Accumulator::f16 : Accumulator::f32);
  int wrong = 0;
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      float row[K], column[K];
      for (int k = 0; k < K; ++k) {
        row[k] = static_cast<float>(a.data()[m * K + k]);
        column[k] = static_cast<float>(b.data()[k * N + n]);
      }
      const float sum = kernels::tensor_core_dot(core, row, column, K, 0);
      wrong += c.data()[m * N + n].bits() != T(sum).bits();
    }
  }
  return wrong;
}

TEST_CASE("chip: a longer sum is the simulator's, block by block, on every rung of tensor cores") {
  for (const Gpu gpu : gpus) {
    if (sanitized && gpu != Gpu::h100) continue;  // one does for them
    for (const kernels::Rung rung : {kernels::Rung::wmma_naive, kernels::Rung::wmma_tiled,
                                     kernels::Rung::wmma_stages, kernels::Rung::mma}) {
      INFO(name_of(gpu) << ", " << rung);
      if (machine::architecture_of(gpu) < kernels::rules_of(rung).architecture) {
        CHECK(gpu == Gpu::v100);
        continue;
      }
      CHECK(wrong_elements<__half>(rung, gpu, kernels::Sums::f32) == 0);
      CHECK(wrong_elements<__half>(rung, gpu, kernels::Sums::f16) == 0);
      if (gpu != Gpu::v100) CHECK(wrong_elements<__nv_bfloat16>(rung, gpu, kernels::Sums::f32) == 0);
    }
  }
}

// What a chip lacks.
// -----------------------------------------------------------------------------------------------

TEST_CASE("chip: the architecture is the chip's, and so is what the ladder refuses") {
  CHECK(kernels::emu::architecture() == 90);
  const int expected[] = {70, 80, 89, 90, 90, 100};
  for (std::size_t i = 0; i < std::size(gpus); ++i) {
    const WithChip with(gpus[i]);
    CHECK(kernels::emu::architecture() == expected[i]);
  }
  CHECK_SAYS(
      "wmma-tiled does not take bf16 operands with sums in f32: with bf16 it needs sm_80, and this GPU is "
      "sm_70",
      wrong_elements<__nv_bfloat16>(kernels::Rung::wmma_tiled, Gpu::v100, kernels::Sums::f32));
  CHECK_SAYS(
      "mma does not take f16 operands with sums in f32: with f16 it needs sm_80, and this GPU is sm_70",
      wrong_elements<__half>(kernels::Rung::mma, Gpu::v100, kernels::Sums::f32));
}

TEST_CASE("chip: a kernel that asks for a format which the chip lacks is refused") {
  const WithChip with(Gpu::v100);
  const Array<__nv_bfloat16> a(256);
  const Array<float> d(256);
  CHECK_SAYS("the tensor cores of v100 do not take bf16; they take fp16",
             launch<by_wmma<__nv_bfloat16>>(1, 32, 0, nullptr, a.data(), a.data(), d.data()));
}

TEST_CASE("the chip in use") {
  try {
    const Chip chip = machine::chip();
    std::printf("chip: %s\n", chip ? std::string(name_of(*chip)).c_str() : "none");
  } catch (const UsageError& error) {
    std::printf("usage: %s\n", error.what());
  }
}

TEST_CASE("TINYMP_EMULATE names the chip") {
  const auto told = [](const std::string& value, const std::string& label) {
    const std::optional<ChildResult> result = run_again("TINYMP_EMULATE='" + value + "'", "the chip in use");
    return result ? result->line(label) : "(unknown)";
  };
  if (told("", "chip: ") == "(unknown)") SKIP_TEST("this system does not say where the running program lies");
  for (const Gpu gpu : gpus) CHECK(told(std::string(name_of(gpu)), "chip: ") == name_of(gpu));
  for (const char* plain : {"", "0", "1"}) CHECK(told(plain, "chip: ") == "none");
  for (const char* wrong : {"p100", "H100", "2", "h100 "}) {
    CHECK(told(wrong, "usage: ") ==
          concat("TINYMP_EMULATE: \"", wrong,
                 "\" is not a GPU with a model; choose one of v100, a100, ada, h100, h200, b200, or 1 for "
                 "sums in FP32 as on the CPU; 0 turns the emulation off"));
  }
}

}  // namespace
}  // namespace tinymp::test
