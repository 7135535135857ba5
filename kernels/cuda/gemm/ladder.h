#pragma once

#include <kernels/cuda/stream.h>
#include <kernels/kernels.h>
#include <array>
#include <cstdint>
#include <ostream>
#include <string_view>

/// Matrix multiplication on a GPU as a ladder: each rung is one kernel in one file, a little faster and a
/// little harder to read than the one below. This header says what there is and which rung takes what.
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
};

/// From the ground up.
enum class Rung : std::uint8_t { naive, tiled, wmma_naive, wmma_tiled, wmma_stages, mma };

/// What a rung takes.
struct RungRules {
  std::string_view name;
  bool f32;  ///< operands in FP32; all rungs take FP16, and BF16 where the GPU does
  bool half_sums_of_f32;
  int architecture;  ///< 70 is sm_70, the first with tensor cores; nvcc 13 builds for sm_75 and newer
  int bf16_architecture;
  int multiple_of;    ///< M, N and K must be multiples of this
  int stride_bytes;   ///< rows of a and b must start at multiples of this
  int address_bytes;  ///< and their first row at a multiple of this
};

/// The table. wmma wants tiles at multiples of 32 bytes whose rows are multiples of 16 apart (CUDA C++
/// Programming Guide, "Warp Matrix Functions"); cp.async copies 16 aligned bytes,
/// or 4.
inline constexpr std::array<RungRules, 6> ladder{{
    //  name        f32    f16 sums of it  sm  bf16  multiple  stride  address
    {"naive", true, true, 70, 70, 1, 1, 1},
    {"tiled", true, true, 70, 70, 1, 1, 1},
    {"wmma-naive", false, false, 70, 80, 16, 16, 32},
    {"wmma-tiled", false, false, 70, 80, 1, 1, 1},
    {"wmma-stages", false, false, 80, 80, 1, 16, 16},
    {"mma", false, false, 80, 80, 1, 4, 4},
}};

constexpr const RungRules& rules_of(Rung rung) { return ladder[static_cast<std::size_t>(rung)]; }
inline std::ostream& operator<<(std::ostream& out, Rung rung) { return out << rules_of(rung).name; }

/// "wmma-naive" -> Rung::wmma_naive; throws UsageError naming the choices.
Rung rung_from_name(std::string_view name);

/// The rung that computes `problem` when `wanted` is asked for: itself, or the next below that takes the
/// sizes and strides. Throws Error when `wanted` does not take the formats, on a GPU of this architecture
/// (80: sm_80).
Rung rung_for(Rung wanted, const GemmProblem& problem, int architecture);

/// The fastest rung for this problem; throws Error when there is none.
Rung best_rung(const GemmProblem& problem, int architecture);

// Both executors have the same functions.
#define TINYMP_GEMM_FUNCTIONS                                                 \
  void gemm_naive(const GemmProblem& problem, Stream stream);                 \
  void gemm_tiled(const GemmProblem& problem, Stream stream);                 \
  void gemm_wmma_naive(const GemmProblem& problem, Stream stream);            \
  void gemm_wmma_tiled(const GemmProblem& problem, Stream stream);            \
  void gemm_wmma_stages(const GemmProblem& problem, Stream stream);           \
  void gemm_mma(const GemmProblem& problem, Stream stream);                   \
  /* Of the GPU in use; emulated: of the chip (kernels/emu/chip.h), or 90. */ \
  int architecture();                                                         \
  /* Runs `wanted` or, by rung_for(), one below; returns the one it was. */   \
  Rung gemm(Rung wanted, const GemmProblem& problem, Stream stream);
namespace emu {
TINYMP_GEMM_FUNCTIONS
}
namespace cuda {
TINYMP_GEMM_FUNCTIONS
}
#undef TINYMP_GEMM_FUNCTIONS

}  // namespace tinymp::kernels
