#pragma once

#include <tinymp/base/host_device.h>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

/// The lower bounds of S that EnhancedScaling (loss_scaling.h) follows.
namespace tinymp {

/// From this step on S does not back off below `value`. Steps count from 1.
struct ScaleFloor {
  std::int64_t step;
  float value;
  bool operator==(const ScaleFloor&) const = default;
};

/// A few floors, in the order of their steps. A plain value: kernels take it as an argument.
struct ScaleFloors {
  static constexpr int most = 8;

  ScaleFloor at[most] = {};  ///< at[0] .. at[count - 1]; the others are zero
  std::int32_t count = 0;

  /// The floor of a step; 0, which is no floor, before the first one.
  TINYMP_HD constexpr float of_step(std::int64_t step) const {
    float value = 0;
    for (int i = 0; i < count && at[i].step <= step; ++i) value = at[i].value;
    return value;
  }
  bool operator==(const ScaleFloors&) const = default;
};

/// Says what is wrong with the floors, as the end of a sentence, or nothing when they can be used: at most
/// ScaleFloors::most of them; steps of at least 1, each above the one before; finite values above 0, none below
/// the one before.
std::string fault_of(const ScaleFloors& floors);

/// "40000:8192,150000:32768" -> two floors; "" -> none. The values are FP32 in decimal.
/// @throws UsageError that names the part which is wrong.
ScaleFloors scale_floors_from(std::string_view text);

/// The text that scale_floors_from() reads back to the same bits.
std::string to_text(const ScaleFloors& floors);
std::ostream& operator<<(std::ostream& out, const ScaleFloors& floors);

}  // namespace tinymp
