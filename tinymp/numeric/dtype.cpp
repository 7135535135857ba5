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

}  // namespace tinymp
