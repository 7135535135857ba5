#include <tinymp/numeric/dtype.h>
#include <string>

namespace tinymp {

DType dtype_from_name(std::string_view name) {
  std::string choices;
  for (const FormatRow& format : format_table) {
    if (name == format.name) return format.dtype;
    if (format.dtype != DType::f64) choices += concat(format.name, ", ");
  }
  choices.replace(choices.size() - 2, 2, " or f64");
  throw UsageError(concat("\"", name, "\" is not a format; choose ", choices));
}

void detail::throw_no_arithmetic(DType dtype) {
  throw Error(concat("no op computes in ", dtype,
                     ", which is for storage and the operands of matrix products and ",
                     "convolutions; cast() to f32, f16 or bf16 first"));
}

}  // namespace tinymp
