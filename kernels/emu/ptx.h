#pragma once

#include <kernels/emu/accesses.h>
#include <kernels/emu/async_copy.h>
#include <kernels/emu/numbers.h>
#include <kernels/emu/rendezvous.h>
#include <kernels/emu/tensor_core.h>
#include <tinymp/numeric/half.h>
#include <tinymp/numeric/rounded.h>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

/// The instructions of kernels/cuda/ptx.h in C++. The PTX ISA says which lane holds which element:
/// "Warp-level matrix load instruction: ldmatrix" and "Matrix Fragments for mma.m16n8k16 with floating point
/// type". Two 16-bit elements share a register, the one with the lower index in the lower half.
namespace tinymp::kernels::emu {
namespace machine {

inline std::uint16_t half_of(std::uint32_t pair, int which) {
  return static_cast<std::uint16_t>(pair >> (16 * which));
}
template <class T>
float value_of(std::uint32_t pair, int which) {
  return static_cast<float>(std::bit_cast<T>(half_of(pair, which)));
}

/// Lane 8 i + r gives the address of row r of matrix i. Register i of lane l receives row l/4, columns 2
/// (l%4) and 2 (l%4) + 1 of matrix i, or of its transpose with `transpose`.
TINYMP_UNCOUNTED inline void load_matrices(Call call, std::uint32_t (&registers)[4], const void* row,
                                           bool transpose) {
  if constexpr (counts_accesses) note_access(row, 16, call.where);
  if (reinterpret_cast<std::uintptr_t>(row) % 16 != 0) {
    refuse(call, "the address of a row must be a multiple of 16 bytes");
  }
  struct Offer {
    const void* row;
    std::array<const unsigned char*, 32> rows;
  } offer{row, {}};
  meet_lanes(call, Meeting::warp, ~0u, offer, [](Lanes<Offer> lanes) {
    for (int lane = 0; lane < 32; ++lane) {
      for (int from = 0; from < 32; ++from) {
        lanes[lane]->rows[static_cast<std::size_t>(from)] =
            static_cast<const unsigned char*>(lanes[from]->row);
      }
    }
  });
  const int g = lane() / 4, t = lane() % 4;
  for (int i = 0; i < 4; ++i) {
    registers[i] = 0;
    for (int which = 0; which < 2; ++which) {
      const int r = transpose ? 2 * t + which : g, c = transpose ? g : 2 * t + which;
      std::uint16_t element = 0;
      std::memcpy(&element, offer.rows[static_cast<std::size_t>(8 * i + r)] + 2 * c, 2);
      registers[i] |= std::uint32_t{element} << (16 * which);
    }
  }
}

/// The four values of d and c that a lane holds: rows g and g + 8, columns 2t and 2t + 1.
inline int accumulator_at(int lane, int i) { return (lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2; }

/// d = d + a . b, with d:(16,8) as floats.
template <class T>
void multiply_fragments(Call call, Sums sums, float (&d)[4], const std::uint32_t (&a)[4],
                        const std::uint32_t (&b)[2]) {
  struct Offer {
    float* d;
    const std::uint32_t *a, *b;
    Sums sums;
  } offer{d, a, b, sums};
  meet_lanes(call, Meeting::warp, ~0u, offer, [](Lanes<Offer> lanes) {
    float left[16][16], right[16][8], tile[16 * 8];
    for (int lane = 0; lane < 32; ++lane) {
      const Offer& own = *lanes[lane];
      const int g = lane / 4, t = lane % 4;
      for (int which = 0; which < 2; ++which) {
        const int c = 2 * t + which;
        left[g][c] = value_of<T>(own.a[0], which);
        left[g + 8][c] = value_of<T>(own.a[1], which);
        left[g][c + 8] = value_of<T>(own.a[2], which);
        left[g + 8][c + 8] = value_of<T>(own.a[3], which);
        right[c][g] = value_of<T>(own.b[0], which);
        right[c + 8][g] = value_of<T>(own.b[1], which);
      }
      for (int i = 0; i < 4; ++i) tile[accumulator_at(lane, i)] = own.d[i];
    }
    constexpr Operands operands = std::is_same_v<T, __half> ? Operands::f16 : Operands::bf16;
    multiply({.M = 16,
              .N = 8,
              .K = 16,
              .a = left[0],
              .b = right[0],
              .d = tile,
              .operands = operands,
              .sums = lanes[0]->sums,
              .operands_of_b = operands});
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) lanes[lane]->d[i] = tile[accumulator_at(lane, i)];
    }
  });
}

template <class T>
inline constexpr Operands float8_operands = std::is_same_v<T, float8_e4m3> ? Operands::e4m3 : Operands::e5m2;

/// d = d + a . b for FP8, with d:(16,8), a:(16,32) of A and b:(32,8) of B. Register i of a holds four neighbours along
/// k, from 4t + 16 (i / 2) on, of row g or g + 8; that of b those of column g from 4t + 16 i on.
template <class A, class B>
void multiply_float8(Call call, float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
  struct Offer {
    float* d;
    const std::uint32_t *a, *b;
  } offer{d, a, b};
  meet_lanes(call, Meeting::warp, ~0u, offer, [](Lanes<Offer> lanes) {
    const auto code = [](std::uint32_t four, int which) {
      return static_cast<std::uint8_t>(four >> (8 * which));
    };
    float left[16][32], right[32][8], tile[16 * 8];
    for (int lane = 0; lane < 32; ++lane) {
      const Offer& own = *lanes[lane];
      const int g = lane / 4, t = lane % 4;
      for (int which = 0; which < 4; ++which) {
        for (int i = 0; i < 4; ++i) {
          left[g + i % 2 * 8][4 * t + i / 2 * 16 + which] =
              static_cast<float>(A::from_bits(code(own.a[i], which)));
        }
        for (int i = 0; i < 2; ++i)
          right[4 * t + i * 16 + which][g] = static_cast<float>(B::from_bits(code(own.b[i], which)));
      }
      for (int i = 0; i < 4; ++i) tile[accumulator_at(lane, i)] = own.d[i];
    }
    multiply({.M = 16,
              .N = 8,
              .K = 32,
              .a = left[0],
              .b = right[0],
              .d = tile,
              .operands = float8_operands<A>,
              .sums = Sums::f32,
              .operands_of_b = float8_operands<B>});
    for (int lane = 0; lane < 32; ++lane) {
      for (int i = 0; i < 4; ++i) lanes[lane]->d[i] = tile[accumulator_at(lane, i)];
    }
  });
}

}  // namespace machine

TINYMP_UNCOUNTED inline void copy_16(void* to, const void* from,
                                     machine::Where where = machine::Where::here()) {
  if constexpr (machine::counts_accesses) {
    machine::note_access(from, 16, where, 0);
    machine::note_access(to, 16, where, 1);
  }
  if ((reinterpret_cast<std::uintptr_t>(to) | reinterpret_cast<std::uintptr_t>(from)) % 16 != 0) {
    machine::refuse({"copy_16", where}, "both addresses must be multiples of 16 bytes");
  }
  std::memcpy(to, from, 16);
}

inline void ldmatrix_x4(std::uint32_t (&registers)[4], const void* row,
                        machine::Where where = machine::Where::here()) {
  machine::load_matrices({"ldmatrix_x4", where}, registers, row, false);
}
inline void ldmatrix_x4_trans(std::uint32_t (&registers)[4], const void* row,
                              machine::Where where = machine::Where::here()) {
  machine::load_matrices({"ldmatrix_x4_trans", where}, registers, row, true);
}

template <class T>
void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                  machine::Where where = machine::Where::here()) {
  machine::multiply_fragments<T>({"mma_m16n8k16", where}, machine::Sums::f32, d, a, b);
}
template <class T>
void mma_m16n8k16(std::uint32_t (&d)[2], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                  machine::Where where = machine::Where::here()) {
  static_assert(std::is_same_v<T, __half>, "sums are FP16 for operands of __half only");
  float wide[4];
  for (int i = 0; i < 4; ++i) wide[i] = machine::value_of<__half>(d[i / 2], i % 2);
  machine::multiply_fragments<T>({"mma_m16n8k16", where}, machine::Sums::f16, wide, a, b);
  for (int i = 0; i < 2; ++i) {
    d[i] = __half(wide[2 * i]).bits() | std::uint32_t{__half(wide[2 * i + 1]).bits()} << 16;
  }
}

template <class A, class B>
void mma_m16n8k32(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2],
                  machine::Where where = machine::Where::here()) {
  machine::multiply_float8<A, B>({"mma_m16n8k32", where}, d, a, b);
}

/// "cvt", with .rn.satfinite to .e4m3x2 and .e5m2x2. Of a NaN the chip makes 0x7f.
template <class Y>
std::uint32_t cvt_satfinite_x2(float first, float second) {
  const auto code = [](float x) {
    return x == x ? std::uint32_t{rounded<Y>(x, Rounding::nearest_even, 0, Overflow::saturate).bits()} : 0x7f;
  };
  return code(first) | code(second) << 8;
}

/// "cvt", with .rn to .f16x2 of .e4m3x2 and .e5m2x2. Of a NaN the chip makes 0x7fff.
template <class X>
std::uint32_t cvt_to_halves(std::uint32_t codes) {
  const auto one = [](std::uint32_t code) {
    const auto x = static_cast<float>(X::from_bits(static_cast<std::uint8_t>(code)));
    return x == x ? std::uint32_t{half(x).bits()} : 0x7fff;
  };
  return one(codes & 0xff) | one(codes >> 8 & 0xff) << 16;
}

inline void cp_async_16(void* shared, const void* global, int bytes = 16,
                        machine::Where where = machine::Where::here()) {
  __pipeline_memcpy_async(shared, global, 16, static_cast<std::size_t>(16 - bytes), where);
}
inline void cp_async_4(void* shared, const void* global, int bytes = 4,
                       machine::Where where = machine::Where::here()) {
  __pipeline_memcpy_async(shared, global, 4, static_cast<std::size_t>(4 - bytes), where);
}
inline void cp_async_commit() { __pipeline_commit(); }
template <int keep>
void cp_async_wait() {
  __pipeline_wait_prior(keep);
}

}  // namespace tinymp::kernels::emu
