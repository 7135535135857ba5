#include <tinymp/numeric/dtype.h>

namespace tinymp {

DType dtype_from_name(std::string_view name) {
  for (DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64})
    if (name == name_of(dtype)) return dtype;
  throw UsageError(concat("\"", name, "\" is not a format; choose f32, f16, bf16 or f64"));
}

}  // namespace tinymp
