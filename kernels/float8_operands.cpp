#include <kernels/float8_operands.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <string>

namespace tinymp::kernels::detail {
namespace {

bool is_product(std::string_view kernel) {
  return kernel == "gemm" || kernel == "gemm_reference" || kernel.starts_with("conv2d");
}

std::string words_of(const Unary* function) {
  if (function == nullptr) return "";
  switch (*function) {
#define TINYMP_CASE(name, Formula) \
  case Unary::name:                \
    return " (" #name ")";
    TINYMP_UNARY(TINYMP_CASE)
#undef TINYMP_CASE
  }
  return "";
}

std::string words_of(const View& x) { return concat(x.dtype, x.shape); }

void check_product(std::string_view kernel, const CallFormats& call) {
  const View &a = *call.views[0], &b = *call.views[1], &c = *call.views[2];
  const bool a_is_eight = !has_arithmetic(a.dtype), b_is_eight = !has_arithmetic(b.dtype);
  expect(a_is_eight || b_is_eight || has_arithmetic(c.dtype), kernel, ": ", words_of(a), " and ", words_of(b),
         " do not give ", words_of(c), "; quantize() or cast() the result");
  expect(a_is_eight || b_is_eight || !call.scaled, kernel, ": ", words_of(a), " and ", words_of(b),
         " with scales, which are those of FP8 operands; quantize() both first");
  expect(a_is_eight == b_is_eight, kernel, ": ", words_of(a), " meets ", words_of(b),
         "; quantize() or cast() one of them: both operands are FP8, e4m3 or e5m2 each, or none is");
  expect(has_arithmetic(c.dtype) && c.dtype != DType::f64, kernel, ": ", words_of(a), " and ", words_of(b),
         " give f32, f16 or bf16, not ", c.dtype,
         "; cast() both operands first, or give the result another format");
  expect(call.accumulate == DType::f32, kernel, ": sums of FP8 products are kept in f32, not ",
         call.accumulate, "; cast() both operands to f16 first for sums in f16");
}

}  // namespace

void check_eight_bits(std::string_view kernel, const CallFormats& call) {
  if (is_product(kernel)) return check_product(kernel, call);
  if (kernel == "cast") return;
  const auto first = std::find_if(call.views.begin(), call.views.begin() + call.count,
                                  [](const View* view) { return !has_arithmetic(view->dtype); });
  const bool named = first != call.views.begin() + call.count;
  if (kernel == "quantize" && named && has_arithmetic(call.views[0]->dtype)) return;
  throw Error(
      concat(kernel, words_of(call.function),
             named ? concat(": ", words_of(**first), ". No op computes in FP8") : ": FP8",
             ", which is for storage and the operands of matrix products and convolutions; cast() to ",
             "f32, f16 or bf16 first"));
}

}  // namespace tinymp::kernels::detail
