#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/numeric/scale_floors.h>
#include <charconv>
#include <cmath>
#include <ostream>

namespace tinymp {
namespace {

/// Reads all of `text` as one number; false when it is none, or out of range.
template <class T>
bool read(std::string_view text, T& value) {
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, value);
  return failed == std::errc() && stop == end;
}

/// "40000:8192"
ScaleFloor floor_from(std::string_view text) {
  const std::size_t colon = text.find(':');
  ScaleFloor floor{};
  if (colon == std::string_view::npos || !read(text.substr(0, colon), floor.step) ||
      !read(text.substr(colon + 1), floor.value))
    throw UsageError(
        concat("a floor is STEP:VALUE, as in 40000:8192, not '", excerpt(std::string(text)), "'"));
  return floor;
}

}  // namespace

std::string fault_of(const ScaleFloors& floors) {
  if (floors.count < 0 || floors.count > ScaleFloors::most)
    return concat("there are ", floors.count, " of them; there can be ", ScaleFloors::most);
  for (int i = 0; i < floors.count; ++i) {
    const auto [step, value] = floors.at[i];
    if (!std::isfinite(value) || !(value > 0))
      return concat("the value ", value, " is not a finite number above 0");
    if (step < 1) return concat("the step ", step, " is below 1, the first step");
    if (i == 0) continue;
    const auto [step_before, value_before] = floors.at[i - 1];
    if (step <= step_before) return concat("step ", step, " follows step ", step_before, "; steps must rise");
    if (value < value_before)
      return concat("the value ", value, " follows ", value_before, "; a floor must not fall");
  }
  return "";
}

ScaleFloors scale_floors_from(std::string_view text) {
  ScaleFloors floors;
  for (std::size_t begin = 0; !text.empty() && begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    if (floors.count == ScaleFloors::most)
      throw UsageError(concat("there are more than ", ScaleFloors::most, " floors"));
    floors.at[floors.count++] = floor_from(text.substr(begin, end - begin));
    begin = end + 1;
  }
  const std::string fault = fault_of(floors);
  if (!fault.empty()) throw UsageError(concat("these floors do not rise from step 1 on: ", fault));
  return floors;
}

std::string to_text(const ScaleFloors& floors) {
  std::string text;
  for (int i = 0; i < floors.count; ++i) {
    char value[32];  // the shortest text that gives these bits
    const auto [end, failed] = std::to_chars(value, value + sizeof value, floors.at[i].value);
    text += concat(i > 0 ? "," : "", floors.at[i].step, ":", std::string_view(value, end));
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, const ScaleFloors& floors) { return out << to_text(floors); }

}  // namespace tinymp
