#pragma once

#include <kernels/emu/accesses.h>
#include <kernels/emu/numbers.h>
#include <kernels/emu/rendezvous.h>
#include <kernels/emu/tensor_core.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

/// nvcuda::wmma for tiles of 16x16x16. CUDA C++ Programming Guide, "Warp Matrix Functions".
///
/// A fragment is the part of a tile that one lane holds: the 32 lanes together hold the tile. CUDA does not
/// say which element lies where, so kernels do the same to each x[i]. Here element e of a tile, counted row
/// by row, is x[e % n] of lane e / n.
namespace tinymp::kernels::emu::nvcuda::wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
struct col_major;
enum layout_t { mem_row_major, mem_col_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
class fragment {
  static_assert(M == 16 && N == 16 && K == 16, "the emulation knows tiles of 16x16x16");

 public:
  // As on GPUs, each element of a and b is held twice.
  static constexpr int num_elements = std::is_same_v<Use, accumulator> ? 8 : 16;
  T x[num_elements];

  /// Sums start as NaN, like all memory here that a GPU leaves undefined.
  fragment() {
    if constexpr (std::is_same_v<Use, accumulator>) std::fill_n(x, num_elements, nan);
  }

 private:
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();
};

template <class T>
using sums = fragment<accumulator, 16, 16, 16, T>;

template <class Use, class T, class Layout>
void fill_fragment(fragment<Use, 16, 16, 16, T, Layout>& f, std::type_identity_t<T> value) {
  for (T& x : f.x) x = value;
}

namespace detail {

/// The offset of element `e` of a tile.
inline std::int64_t offset(int e, unsigned ld, bool rows) {
  const int row = e / 16, col = e % 16;
  return rows ? row * std::int64_t{ld} + col : col * std::int64_t{ld} + row;
}

inline void check_address(const machine::Call& call, const void* p, unsigned ld, std::size_t size) {
  if (reinterpret_cast<std::uintptr_t>(p) % 32 != 0 || ld * size % 16 != 0) {
    machine::refuse(call, "the address of a tile must be a multiple of 32 bytes, its stride of 16 bytes");
  }
}

/// Reports what a GPU since sm_80 reads or writes of a tile, whose lines in memory are `ld` apart. A lane holds pairs of
/// neighbours, as for mma.m16n8k16 (the PTX ISA tells where); operands from shared memory come by ldmatrix.
template <class Use, class T>
void note_tile(const T* p, unsigned ld, machine::Where where) {
  const int lane = machine::lane(), g = lane / 4, t = lane % 4;
  const auto at = [&](int line, int element) { return p + std::int64_t{line} * ld + element; };
  if (!std::is_same_v<Use, accumulator> && machine::is_shared(p))
    return machine::note_access(at(lane % 16, lane / 16 * 8), 8 * sizeof(T), where);
  for (int i = 0; i < 4; ++i)
    machine::note_access(at(g + i % 2 * 8, 2 * t + i / 2 * 8), 2 * sizeof(T), where, i);
}

/// A lane reads its elements before it meets the other lanes. Values that these write later come too late.
template <class Use, class Fragment, class T>
TINYMP_UNCOUNTED void load(Fragment& f, const T* p, unsigned ld, bool rows, machine::Where where) {
  if constexpr (machine::counts_accesses) note_tile<Use>(p, ld, where);
  const machine::Call call{"load_matrix_sync", where};
  check_address(call, p, ld, sizeof(T));
  const int first = machine::lane() * Fragment::num_elements;
  for (int i = 0; i < Fragment::num_elements; ++i) f.x[i] = p[offset((first + i) % 256, ld, rows)];
  machine::meet_lanes(call, machine::Meeting::warp, ~0u);
}

}  // namespace detail

template <class Use, class T, class Layout>
void load_matrix_sync(fragment<Use, 16, 16, 16, T, Layout>& f, const T* p, unsigned ld,
                      machine::Where where = machine::Where::here()) {
  detail::load<Use>(f, p, ld, std::is_same_v<Layout, row_major>, where);
}
template <class T>
void load_matrix_sync(sums<T>& f, const T* p, unsigned ld, layout_t layout,
                      machine::Where where = machine::Where::here()) {
  detail::load<accumulator>(f, p, ld, layout == mem_row_major, where);
}

/// A lane writes its elements after the meeting. A read of them without __syncwarp() comes too early.
template <class T>
TINYMP_UNCOUNTED void store_matrix_sync(T* p, const sums<T>& f, unsigned ld, layout_t layout,
                                        machine::Where where = machine::Where::here()) {
  if constexpr (machine::counts_accesses) detail::note_tile<accumulator>(p, ld, where);
  const machine::Call call{"store_matrix_sync", where};
  detail::check_address(call, p, ld, sizeof(T));
  machine::meet_lanes(call, machine::Meeting::warp, ~0u);
  const int first = machine::lane() * sums<T>::num_elements;
  for (int i = 0; i < sums<T>::num_elements; ++i)
    p[detail::offset(first + i, ld, layout == mem_row_major)] = f.x[i];
}

/// d = a . b + c
template <class T, class Sum, class LayoutA, class LayoutB>
void mma_sync(sums<Sum>& d, const fragment<matrix_a, 16, 16, 16, T, LayoutA>& a,
              const fragment<matrix_b, 16, 16, 16, T, LayoutB>& b, const sums<Sum>& c,
              machine::Where where = machine::Where::here()) {
  static_assert(std::is_same_v<Sum, float> || (std::is_same_v<Sum, __half> && std::is_same_v<T, __half>),
                "sums are float, or __half for operands of __half");
  struct Offer {
    Sum* d;
    const T *a, *b;
    const Sum* c;
  } offer{d.x, a.x, b.x, c.x};
  machine::meet_lanes(
      {"mma_sync", where}, machine::Meeting::warp, ~0u, offer, [](machine::Lanes<Offer> lanes) {
        std::array<float, 256> left, right, tile;
        for (int e = 0; e < 256; ++e) {
          const auto at = static_cast<std::size_t>(e);
          left[at] = static_cast<float>(lanes[e / 16]->a[e % 16]);
          right[at] = static_cast<float>(lanes[e / 16]->b[e % 16]);
          tile[at] = static_cast<float>(lanes[e / 8]->c[e % 8]);
        }
        const bool half_operands = std::is_same_v<T, __half>, half_sums = std::is_same_v<Sum, __half>;
        machine::multiply(
            {.M = 16,
             .N = 16,
             .K = 16,
             .a = left.data(),
             .b = right.data(),
             .d = tile.data(),
             .operands = half_operands ? machine::Operands::f16 : machine::Operands::bf16,
             .sums = half_sums ? machine::Sums::f16 : machine::Sums::f32,
             .operands_of_b = half_operands ? machine::Operands::f16 : machine::Operands::bf16});
        for (int e = 0; e < 256; ++e) {
          lanes[e / 8]->d[e % 8] = static_cast<Sum>(tile[static_cast<std::size_t>(e)]);
        }
      });
}

}  // namespace tinymp::kernels::emu::nvcuda::wmma
