#include <kernels/cuda/gemm/narrow_mma.h>
#include <kernels/cuda/gemm/tensor_tiles.h>
#include <kernels/cuda/gemm/types.h>
#include <kernels/cuda/ptx.h>
#include <tinymp/numeric/float8.h>

/// One instruction alone, with its accumulator going in and out. A warp a tile. UNTESTED ON HARDWARE.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class T, class Sum>
__global__ void one_tile(const T* a, const T* b, const Sum* c, Sum* d) {
  using namespace nvcuda::wmma;
  const std::int64_t at = std::int64_t{blockIdx.x} * 256;
  fragment<matrix_a, 16, 16, 16, T, row_major> left;
  fragment<matrix_b, 16, 16, 16, T, row_major> right;
  fragment<accumulator, 16, 16, 16, Sum> sums;
  load_matrix_sync(left, a + at, 16);
  load_matrix_sync(right, b + at, 16);
  load_matrix_sync(sums, c + at, 16, mem_row_major);
  mma_sync(sums, left, right, sums);
  store_matrix_sync(d + at, sums, 16, mem_row_major);
}

/// The bits of an operand, which go into registers as they are.
template <class T>
using Bits = std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint8_t>;

/// A register full of neighbours that lie `step` apart, the first in the lowest bits.
template <class Bits>
__device__ std::uint32_t packed(const Bits* first, int step) {
  constexpr int bits = 8 * static_cast<int>(sizeof(Bits));
  std::uint32_t result = 0;
  for (int i = 0; i < 32 / bits; ++i) result |= std::uint32_t{first[i * step]} << (bits * i);
  return result;
}

template <class A, class B, int K, class Sums, int registers>
__device__ void multiply_tile(Sums& sums, const std::uint32_t (&a)[2 * registers],
                              const std::uint32_t (&b)[registers]) {
  if constexpr (K == 32) {
    mma_m16n8k32<A, B>(sums, a, b);
  } else if constexpr (K == 16) {
    mma_m16n8k16<A>(sums, a, b);
  } else {
    mma_m16n8k8(sums, a, b);
  }
}

/// PTX ISA, "Matrix Fragments for mma.m16n8k8", "m16n8k16", "m16n8k32": lane 4 g + t has rows g and g + 8 of a and d, and
/// column g of b.
template <class A, class B, class Sum, int K>
__global__ void one_mma(const Bits<A>* a, const Bits<B>* b, const Sum* c, Sum* d) {
  constexpr int in_register = 4 / static_cast<int>(sizeof(A)), registers = K / (4 * in_register);
  const std::int64_t tile = blockIdx.x;
  const int g = static_cast<int>(threadIdx.x) / 4, t = static_cast<int>(threadIdx.x) % 4;
  const auto place = [&](int i) { return tile * 128 + (g + i / 2 * 8) * 8 + 2 * t + i % 2; };
  a += tile * 16 * K, b += tile * K * 8;
  std::uint32_t left[2 * registers], right[registers];
  for (int i = 0; i < 2 * registers; ++i)
    left[i] = packed(a + (g + i % 2 * 8) * K + in_register * (t + i / 2 * 4), 1);
  for (int i = 0; i < registers; ++i) right[i] = packed(b + in_register * (t + 4 * i) * 8 + g, 8);
  if constexpr (std::is_same_v<Sum, float>) {
    float sums[4];
    for (int i = 0; i < 4; ++i) sums[i] = c[place(i)];
    multiply_tile<A, B, K, decltype(sums), registers>(sums, left, right);
    for (int i = 0; i < 4; ++i) d[place(i)] = sums[i];
  } else {  // two in a register
    std::uint32_t sums[2] = {packed(c + place(0), 1), packed(c + place(2), 1)};
    multiply_tile<A, B, K, decltype(sums), registers>(sums, left, right);
    for (int i = 0; i < 4; ++i) d[place(i)] = static_cast<Sum>(sums[i / 2] >> (16 * (i % 2)));
  }
}

template <class A, class B, class Sum, int K>
void launch_mma(const TileBatch& tiles, Stream stream) {
  launch<one_mma<A, B, Sum, K>>(static_cast<unsigned>(tiles.count), 32, 0, stream,
                                static_cast<const Bits<A>*>(tiles.a), static_cast<const Bits<B>*>(tiles.b),
                                static_cast<const Sum*>(tiles.c), static_cast<Sum*>(tiles.d));
}

template <class T, class Sum>
void launch_wmma(const TileBatch& tiles, Stream stream) {
  launch<one_tile<T, Sum>>(static_cast<unsigned>(tiles.count), 32, 0, stream, static_cast<const T*>(tiles.a),
                           static_cast<const T*>(tiles.b), static_cast<const Sum*>(tiles.c),
                           static_cast<Sum*>(tiles.d));
}

void launch_float8(const TileBatch& tiles, Stream stream) {
  const auto with_b = [&]<class A>(Type<A>) {
    if (tiles.b_format == kernels::Operand::e4m3) {
      launch_mma<A, float8_e4m3, float, 32>(tiles, stream);
    } else {
      launch_mma<A, float8_e5m2, float, 32>(tiles, stream);
    }
  };
  if (tiles.a_format == kernels::Operand::e4m3) {
    with_b(Type<float8_e4m3>());
  } else {
    with_b(Type<float8_e5m2>());
  }
}

}  // namespace

void tensor_tiles(const TileBatch& tiles, Stream stream) {
  expect(first_architecture(tiles) > 0, "tensor_tiles: there is no such instruction");
  const bool wide_sums = tiles.sums == Sums::f32, bf16 = tiles.a_format == kernels::Operand::bf16;
  switch (tiles.instruction) {
    case TileInstruction::wmma:
      return bf16        ? launch_wmma<__nv_bfloat16, float>(tiles, stream)
             : wide_sums ? launch_wmma<__half, float>(tiles, stream)
                         : launch_wmma<__half, __half>(tiles, stream);
    case TileInstruction::mma_k8:
      return wide_sums ? launch_mma<__half, __half, float, 8>(tiles, stream)
                       : launch_mma<__half, __half, std::uint16_t, 8>(tiles, stream);
    case TileInstruction::mma_k16:
      return bf16        ? launch_mma<__nv_bfloat16, __nv_bfloat16, float, 16>(tiles, stream)
             : wide_sums ? launch_mma<__half, __half, float, 16>(tiles, stream)
                         : launch_mma<__half, __half, std::uint16_t, 16>(tiles, stream);
    case TileInstruction::mma_k32:
      return launch_float8(tiles, stream);
  }
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
