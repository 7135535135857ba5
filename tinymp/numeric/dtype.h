#pragma once

#include <tinymp/base/error.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/half.h>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string_view>

/// The element type of a tensor, known at run time. A new format needs: a line in each switch and table below
/// and in dtype.cpp, conversions (convert.h), and what the compiler then names, switches that miss a case.
namespace tinymp {

enum class DType : std::uint8_t {
  f32,   ///< binary32
  f16,   ///< binary16: 1 sign, 5 exponent, 10 fraction bits
  f64,   ///< binary64: gradient checks only
  bf16,  ///< bfloat16: 1 sign, 8 exponent, 7 fraction bits
};

template <class T>
struct DTypeOf;
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::f32;
};
template <>
struct DTypeOf<half> {
  static constexpr DType value = DType::f16;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::f64;
};
template <>
struct DTypeOf<bfloat16> {
  static constexpr DType value = DType::bf16;
};
template <class T>
inline constexpr DType dtype_of = DTypeOf<T>::value;

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::f64:
      return 8;
  }
  return 0;
}

constexpr std::string_view name_of(DType dtype) {
  switch (dtype) {
    case DType::f32:
      return "f32";
    case DType::f16:
      return "f16";
    case DType::f64:
      return "f64";
    case DType::bf16:
      return "bf16";
  }
  return "?";
}

inline std::ostream& operator<<(std::ostream& out, DType dtype) { return out << name_of(dtype); }

/// "f16" -> DType::f16; throws UsageError naming the choices.
DType dtype_from_name(std::string_view name);

/// The one place where a run-time DType becomes a C++ type:
///   visit_dtype(x.dtype(), [&]<class T> { relu_loop(x.data<T>(), y.data<T>(), n); });
/// At most two nested visits in one kernel: each one multiplies the instantiations by four.
template <class F>
decltype(auto) visit_dtype(DType dtype, F&& f) {
  switch (dtype) {
    case DType::f16:
      return f.template operator()<half>();
    case DType::bf16:
      return f.template operator()<bfloat16>();
    case DType::f64:
      return f.template operator()<double>();
    case DType::f32:
      break;
  }
  return f.template operator()<float>();
}

}  // namespace tinymp
