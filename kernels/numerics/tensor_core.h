#pragma once

#include <cstdint>
#include <string_view>

/// What a tensor core really computes: d = sum over k of a[k] b[k] + c, as an NVIDIA GPU rounds it.
///
/// It is neither a chain of fused multiply-adds nor the exact sum rounded once. The terms of one *block*,
/// that is the products and c, are added together as whole numbers:
///
///   1. Every product is exact. Its exponent is the sum of its operands' exponents, 1.5 * 1.5 = 2.25 * 2^0;
///   that
///      of a subnormal is the format's smallest. Terms that are 0 are left out.
///   2. All terms are shifted to the largest exponent among them and cut off (towards 0) so many bits after
///   the
///      point: `fraction_bits`. Here small terms vanish, however many there are.
///   3. The sum is exact. If it is 0, d is +0: terms that cancel, or are all -0, leave no sign.
///   4. d in FP32 is cut off too, to 23 bits after its leading one, or `fraction_bits` where these are fewer;
///      d in FP16 is rounded to nearest even, once. Subnormals are kept. From 2^128 (FP16: 65520) on d is
///      infinity.
///
/// NaN, infinity times 0, and infinities of both signs give NaN: 0x7fffffff, the one that NVIDIA's hardware
/// makes (PTX ISA, "Floating Point Instructions"). Any other infinity is the result. Finite terms that are
/// too large for FP32 cause no harm when others cancel them.
///
/// A longer sum goes *block by block in the order of k*: c enters the first block, and d of each, in the
/// accumulator's format, is c of the next. The last block is filled with zeros.
///
/// How: Fasi, Higham, Mikaitis and Pranesh, "Numerical behavior of NVIDIA tensor cores", PeerJ Computer
/// Science 7 (2021) e330; Khattak and Mikaitis, "Accurate models of NVIDIA tensor cores", arXiv 2512.07004
/// (2025).
namespace tinymp::kernels {

enum class Gpu : std::uint8_t { v100, a100, ada, h100, h200, b200 };
enum class Operand : std::uint8_t { fp16, bf16, e4m3, e5m2 };
/// The format of c and d, and of what lies between two blocks.
enum class Accumulator : std::uint8_t { f32, f16 };

/// How FP8 reaches the unit on Hopper and Blackwell. Elsewhere both are the same.
enum class Instruction : std::uint8_t {
  native,    ///< wgmma (Hopper), tcgen05.mma (Blackwell)
  mma_sync,  ///< unpacked to FP16, for which the unit is made: of 32 products those of k = 0 1, 4 5, 8 9 ...
             ///< make one block, the others the next. The first begins at 0, and c is added to the second by
             ///< an ordinary addition, to nearest even
};

/// Why a row of the table is believed.
enum class Evidence : std::uint8_t {
  recorded,   ///< tests/kernels/tensor_core_test.cpp reads 5,000 blocks from that GPU: all bits agree
  published,  ///< the model of Khattak and Mikaitis, which agreed with their hardware; for mma_sync with e4m3
              ///< blocks that they published: 20 of the H100, 30 of the H200, 24 of the B200, and 60 with
              ///< FP16 accumulators
  assumed,    ///< by analogy; no measurement is known
};

struct TensorCore {
  int terms;              ///< products in a block
  int fraction_bits;      ///< after the point of the largest term
  int smallest_exponent;  ///< of a normal operand
  Accumulator accumulator;
  bool as_fp16;  ///< FP8 by Instruction::mma_sync
  Evidence evidence;
  int smallest_exponent_of_b;  ///< of b; the one above is that of a
};

/// FP16 accumulators are for FP16 and FP8 operands.
/// @throws UsageError for what the GPU lacks, naming what it has.
TensorCore tensor_core(Gpu gpu, Operand operand, Accumulator accumulator = Accumulator::f32,
                       Instruction instruction = Instruction::native);

/// The same for operands of two formats, which are both FP8 then. No recording has two: Evidence::assumed.
TensorCore tensor_core_of_mix(Gpu gpu, Operand a, Operand b, Instruction instruction = Instruction::native);

/// One element of a matrix product. a and b hold n numbers of the operand's format, c one of the
/// accumulator's, each widened to float. d is one of the accumulator's, too. n = 0 gives c. Allocates
/// nothing.
float tensor_core_dot(const TensorCore& core, const float* a, const float* b, std::int64_t n, float c);

/// A tile of them: d = a . b^T + d, each element with the bits of tensor_core_dot(), in less time, as each
/// number is taken apart only once. a:(M,K), b:(N,K), d:(M,N), row by row; M and N are 16 at most, K is 32 at most.
void tensor_core_tile(const TensorCore& core, const float* a, const float* b, float* d, int M, int N, int K);

std::string_view name_of(Gpu gpu);
std::string_view name_of(Operand operand);
std::string_view name_of(Evidence evidence);
/// "h100" -> Gpu::h100; "fp16" -> Operand::fp16. @throws UsageError naming the choices.
Gpu gpu_from_name(std::string_view name);
Operand operand_from_name(std::string_view name);

/// x rounded to nearest even in the operand's format, as a float; overflow becomes infinity, or NaN in e4m3.
float round_to(Operand operand, float x);

}  // namespace tinymp::kernels
