#pragma once

#include <kernels/kernels.h>
#include <array>
#include <cstddef>
#include <string_view>

/// FP8 is for cast, quantize and the operands of products. dispatch.cpp asks here before each call, so no kernel
/// meets a format that it does not take.
namespace tinymp::kernels::detail {

/// What the arguments of a call say about formats.
struct CallFormats {
  std::array<const View*, 8> views{};
  std::size_t count = 0;
  DType accumulate = DType::f32;
  bool eight_bits = false;  ///< a view holds FP8
  bool scaled = false;      ///< there are scales, which are for products of FP8
  const Unary* function = nullptr;

  void add(const View& view) {
    if (count < views.size()) views[count++] = &view;
    eight_bits = eight_bits || !has_arithmetic(view.dtype);
  }
  void add(DType sums) { accumulate = sums; }
  void add(const Float8Product& float8) { scaled = scaled || float8.scale_a || float8.scale_b; }
  void add(const Epilogue& after) {
    add(after.float8);
    eight_bits = eight_bits || !has_arithmetic(after.bias.dtype);
  }
  void add(const Normalizer& by) {
    add(by.mean);
    add(by.variance);
  }
  void add(const UpdateArenas& arenas) {
    for (const View& view : {arenas.weights, arenas.master, arenas.gradients})
      eight_bits = eight_bits || !has_arithmetic(view.dtype);
  }
  void add(const Unary& f) { function = &f; }
  template <class Other>
  void add(const Other&) {}
};

/// Throws Error: says what the kernel does not take, and how to mend it.
void check_eight_bits(std::string_view kernel, const CallFormats& call);

/// Throws Error unless the kernel takes the formats of its arguments.
template <class... Arguments>
void expect_formats(std::string_view kernel, const Arguments&... arguments) {
  CallFormats call;
  (call.add(arguments), ...);
  if (call.eight_bits || call.scaled) check_eight_bits(kernel, call);
}

}  // namespace tinymp::kernels::detail
