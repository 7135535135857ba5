#pragma once

#include <tinymp/base/error.h>
#include <tinymp/base/host_device.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/float8.h>
#include <tinymp/numeric/half.h>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string_view>
#include <tuple>
#include <type_traits>

/// The formats of tensors. A new format takes four lines, all in this file: its name in DType, its C++ type
/// in FormatTypes, its row in `format_table`, its case in visit_dtype(). The compiler reports a missing one. (A
/// format that no op computes in has a case in visit_any_dtype() too.)
/// All other code asks these tables, so no code takes one format for another. Tensor cores, for one, are used
/// only for the formats that they have (kernels/cuda/gemm.cuh).
namespace tinymp {

/// The element type of a tensor, known at run time.
enum class DType : std::uint8_t {
  f32,   ///< binary32
  f16,   ///< binary16: 1 sign, 5 exponent, 10 fraction bits
  f64,   ///< binary64: gradient checks only
  bf16,  ///< bfloat16: 1 sign, 8 exponent, 7 fraction bits
  e5m2,  ///< FP8 with 5 exponent and 2 fraction bits: storage, and operands of products
  e4m3,  ///< FP8 with 4 exponent and 3 fraction bits: the same, no infinity
};

/// The C++ types, in the order of DType.
using FormatTypes = std::tuple<float, half, double, bfloat16, float8_e5m2, float8_e4m3>;
template <DType dtype>
using TypeOf = std::tuple_element_t<static_cast<std::size_t>(dtype), FormatTypes>;

/// The names of a format and its size. std::numeric_limits of its type has the numbers.
struct FormatRow {
  DType dtype;
  std::size_t bytes;
  std::string_view name;     ///< in flags and logs
  std::string_view title;    ///< in a sentence
  std::string_view largest;  ///< the largest number, in a sentence
};

/// The rows, in the order of DType.
inline constexpr FormatRow format_table[] = {
    {DType::f32, sizeof(float), "f32", "FP32", "3.4e+38"},
    {DType::f16, sizeof(half), "f16", "FP16", "65504"},
    {DType::f64, sizeof(double), "f64", "FP64", "1.8e+308"},
    {DType::bf16, sizeof(bfloat16), "bf16", "BF16", "3.39e+38"},
    {DType::e5m2, sizeof(float8_e5m2), "e5m2", "FP8 E5M2", "57344"},
    {DType::e4m3, sizeof(float8_e4m3), "e4m3", "FP8 E4M3", "448"},
};

constexpr const FormatRow& format_of(DType dtype) { return format_table[static_cast<std::size_t>(dtype)]; }
constexpr std::size_t size_of(DType dtype) { return format_of(dtype).bytes; }  ///< bytes of one element
constexpr std::string_view name_of(DType dtype) { return format_of(dtype).name; }
/// True below FP32: kernels compute such a format in FP32 and round when they store.
constexpr bool is_narrow(DType dtype) { return size_of(dtype) < size_of(DType::f32); }
/// True for the formats that ops compute in. FP8 is not one of them: a tensor of FP8 is stored, cast, quantised,
/// and multiplied by another one.
constexpr bool has_arithmetic(DType dtype) { return size_of(dtype) > 1; }

inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

/// "f16" -> DType::f16; throws UsageError naming the choices.
DType dtype_from_name(std::string_view name);

namespace detail {
[[noreturn]] void throw_no_arithmetic(DType dtype);  ///< Error: no op computes in this format

/// A kernel on a GPU is never launched for such a format: the function that launches it comes here first.
[[noreturn]] TINYMP_HD inline void refuse_no_arithmetic([[maybe_unused]] DType dtype) {
#if defined(__CUDA_ARCH__)
  __builtin_unreachable();
#else
  throw_no_arithmetic(dtype);
#endif
}
}  // namespace detail

#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
/// The place where a run-time DType becomes the C++ type that a kernel computes in:
///   visit_dtype(x.dtype(), [&]<class T> { relu_loop(x.data<T>(), y.data<T>(), n); });
/// Nest at most two visits in one kernel: each visit multiplies the instantiations by the number of formats.
/// @throws Error for a format without arithmetic. Code that moves or converts values calls visit_any_dtype().
template <class F>
TINYMP_HD constexpr decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f16:
      return f.template operator()<TypeOf<DType::f16>>();
    case DType::bf16:
      return f.template operator()<TypeOf<DType::bf16>>();
    case DType::f64:
      return f.template operator()<TypeOf<DType::f64>>();
    case DType::e5m2:
    case DType::e4m3:
      detail::refuse_no_arithmetic(dtype);
    case DType::f32:
      break;
  }
  return f.template operator()<TypeOf<DType::f32>>();
}
#pragma GCC diagnostic pop

/// The same for all formats of tensors, those without arithmetic included.
template <class F>
TINYMP_HD constexpr decltype(auto) visit_any_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::e5m2:
      return f.template operator()<TypeOf<DType::e5m2>>();
    case DType::e4m3:
      return f.template operator()<TypeOf<DType::e4m3>>();
    default:
      return visit_dtype(dtype, f);
  }
}

namespace detail {
/// The index of T in FormatTypes, or their number when T is none of them.
template <class T, class... All>
constexpr std::size_t place_of(std::tuple<All...>*) {
  std::size_t place = 0;
  static_cast<void>(((std::is_same_v<T, All> || (++place, false)) || ...));
  return place;
}
template <class T>
inline constexpr std::size_t format_place = place_of<T>(static_cast<FormatTypes*>(nullptr));

constexpr bool rows_are_in_order() {
  if (std::size(format_table) != std::tuple_size_v<FormatTypes>) return false;
  for (std::size_t i = 0; i < std::size(format_table); ++i) {
    const auto place = visit_any_dtype(format_table[i].dtype, [&]<class T> { return format_place<T>; });
    if (format_table[i].dtype != static_cast<DType>(i) || place != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order(), "`format_table` and FormatTypes have a row for each DType, in its order");
}  // namespace detail

template <class T>
requires(detail::format_place<T> < std::size(format_table)) inline constexpr DType dtype_of =
    static_cast<DType>(detail::format_place<T>);

/// The unsigned integer that holds the bits of T. The bits of positive numbers
/// are in the order of the numbers.
template <class T>
using BitsOf = std::tuple_element_t<std::bit_width(sizeof(T)) - 1,
                                    std::tuple<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>>;
template <class T>
inline constexpr BitsOf<T> smallest_normal_bits = std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::min());
/// The smallest bits above those of all finite numbers.
template <class T>
inline constexpr BitsOf<T> nonfinite_bits =
    std::bit_cast<BitsOf<T>>(std::numeric_limits<T>::has_infinity ? std::numeric_limits<T>::infinity()
                                                                  : std::numeric_limits<T>::quiet_NaN());

}  // namespace tinymp
