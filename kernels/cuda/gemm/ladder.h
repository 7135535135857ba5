#pragma once

#include <kernels/cuda/stream.h>
#include <kernels/kernels.h>
#include <array>
#include <cstdint>
#include <ostream>
#include <string_view>

/// Matrix multiplication on a GPU as a ladder: each rung is one kernel in one file, a little faster and a
/// little harder to read than the one below. This header says what there is and which rung takes what.
///
/// The header of each rung says how many instructions its inner loop takes, as tests/cuda/machine_code.txt counts them for
/// FP16 with sums in FP32 on sm_90, and what share of the tensor cores' peak that allows at most. A quarter of an SM of an
/// H100 starts one instruction a clock, and its tensor core takes 4 clocks for 16x8x16 products (989 TFLOPS, 132 SMs,
/// 1.83 GHz: NVIDIA H100 Datasheet, SXM5). So 6 instructions for each HMMA leave 4/6 of the peak. What is really reached
/// lies below, and is UNTESTED ON HARDWARE.
namespace tinymp::kernels {

/// The format of a, b and c.
enum class Format : std::uint8_t { f32, f16, bf16 };
/// The format of the running sum.
enum class Sums : std::uint8_t { f32, f16 };

std::string_view name_of(Format format);
std::string_view name_of(Sums sums);

/// c = op(a) . op(b)     op(a):(M,K)  op(b):(K,N)  c:(M,N)
/// All lie row by row in GPU memory, `ld` elements from one row to the next, before they are transposed: a is
/// (M,K) in memory, or (K,M) with Trans::yes. Each c is a sum over k = 0, 1, ..., K-1 that starts at +0 and
/// is rounded once to the format of c.
struct GemmProblem {
  int M = 0, N = 0, K = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  int lda = 0, ldb = 0, ldc = 0;
  Trans ta = Trans::no, tb = Trans::no;
  Format format = Format::f32;
  Sums sums = Sums::f32;
  // Then c + bias and relu, for rungs that do these at once (RungRules::finishes).
  const void* bias = nullptr;  ///< (N), in the format of c
  bool relu = false;
  /// For rungs that can split (RungRules::splits): so many blocks share each sum, which must be kept in FP32. Each adds the
  /// terms of its part of K; then the sums of the parts are added from the first to the last.
  int parts = 1;
  float* part_sums = nullptr;  ///< in GPU memory: room for sums_of_parts()
};

/// Products are split in tiles of this size.
inline constexpr int split_tile_m = 64, split_tile_n = 32;
constexpr std::int64_t split_tiles(const GemmProblem& p) {
  return std::int64_t{(p.M + split_tile_m - 1) / split_tile_m} * ((p.N + split_tile_n - 1) / split_tile_n);
}
constexpr std::int64_t sums_of_parts(const GemmProblem& p) {
  return split_tiles(p) * p.parts * split_tile_m * split_tile_n;
}

/// The number of terms in a part: a multiple of the depth of every tile. The last part may have fewer.
constexpr int terms_of_part(const GemmProblem& p) {
  constexpr int deepest = 64;
  return ((p.K + p.parts - 1) / p.parts + deepest - 1) / deepest * deepest;
}

/// From the ground up.
enum class Rung : std::uint8_t { naive, tiled, wmma_naive, wmma_tiled, wmma_stages, mma };

/// What a rung takes.
struct RungRules {
  std::string_view name;
  bool f32;  ///< operands in FP32; all rungs take FP16, and BF16 where the GPU does
  bool half_sums_of_f32;
  int architecture;  ///< 70 is sm_70, the first with tensor cores; nvcc 13 builds for sm_75 and newer
  int bf16_architecture;
  int last_architecture;  ///< any_later, but for code that newer GPUs do not run (sm_90a)
  int multiple_of;        ///< M, N and K must be multiples of this
  int stride_bytes;       ///< rows of a and b must start at multiples of this
  int address_bytes;      ///< and their first row at a multiple of this
  bool finishes = false;  ///< bias and relu too
  bool splits = false;    ///< GemmProblem::parts; else a sum is one chain
};

inline constexpr int any_later = 9999;

/// The table. wmma wants tiles at multiples of 32 bytes whose rows are multiples of 16 apart (CUDA C++
/// Programming Guide, "Warp Matrix Functions"); cp.async copies 16 aligned bytes,
/// or 4.
inline constexpr std::array<RungRules, 6> ladder{{
    //  name        f32    f16 sums of it  sm  bf16  last  multiple  stride  address
    {"naive", true, true, 70, 70, any_later, 1, 1, 1},
    {"tiled", true, true, 70, 70, any_later, 1, 1, 1},
    {"wmma-naive", false, false, 70, 80, any_later, 16, 16, 32},
    {"wmma-tiled", false, false, 70, 80, any_later, 1, 1, 1},
    {"wmma-stages", false, false, 80, 80, any_later, 1, 16, 16},
    {"mma", false, false, 80, 80, any_later, 1, 4, 4, true, true},
}};

constexpr const RungRules& rules_of(Rung rung) { return ladder[static_cast<std::size_t>(rung)]; }
inline std::ostream& operator<<(std::ostream& out, Rung rung) { return out << rules_of(rung).name; }

/// "wmma-naive" -> Rung::wmma_naive; throws UsageError naming the choices.
Rung rung_from_name(std::string_view name);

/// The rung that computes `problem` when `wanted` is asked for: itself, or the next below that takes the
/// sizes and strides. Throws Error when `wanted` does not take the formats, on a GPU of this architecture
/// (80: sm_80), and when a grid would not cover c.
Rung rung_for(Rung wanted, const GemmProblem& problem, int architecture);

/// Why the rung does not take these formats on a GPU of this architecture; empty when it does.
std::string refusal(const RungRules& rung, const GemmProblem& problem, int architecture);

/// How many parts of K keep a large GPU busy, with enough terms in each to be worth it. 1: splitting gains nothing.
int useful_parts(const GemmProblem& problem);

/// The fastest rung for this problem; throws Error when there is none.
Rung best_rung(const GemmProblem& problem, int architecture);

// Both executors have the same functions.
#define TINYMP_GEMM_FUNCTIONS                                                      \
  void gemm_naive(const GemmProblem& problem, Stream stream);                      \
  void gemm_tiled(const GemmProblem& problem, Stream stream);                      \
  void gemm_wmma_naive(const GemmProblem& problem, Stream stream);                 \
  void gemm_wmma_tiled(const GemmProblem& problem, Stream stream);                 \
  void gemm_wmma_stages(const GemmProblem& problem, Stream stream);                \
  void gemm_mma(const GemmProblem& problem, Stream stream);                        \
  /* Of the GPU in use; emulated: of the chip (kernels/emu/chip.h), or 90. */      \
  int architecture();                                                              \
  /* True where mma.sync takes FP8: from sm_89 on, in code that is made for it. */ \
  bool multiplies_float8();                                                        \
  /* False where a sum must have the order of the CPU: emulated, and no chip. */   \
  bool may_split_sums();                                                           \
  /* Runs `wanted` or, by rung_for(), one below; returns the one it was. */        \
  Rung gemm(Rung wanted, const GemmProblem& problem, Stream stream);
namespace emu {
TINYMP_GEMM_FUNCTIONS
}
namespace cuda {
TINYMP_GEMM_FUNCTIONS
}
#undef TINYMP_GEMM_FUNCTIONS

}  // namespace tinymp::kernels
