#pragma once

#include <lessons/lab/report/curves.h>
#include <lessons/lab/report/table.h>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// The sizes of the gradients over time: a column for each look of a run, a row for each power of two.
namespace tinymp::report {

/// What a format holds, as binary logarithms.
struct FormatLimits {
  const char* name;
  double smallest, smallest_normal, largest;
  const char *smallest_text, *normal_text, *largest_text;
};
/// FP16; the two of FP8 (OCP 8-bit floating point, revision 1.0); BF16, which has the range of FP32.
inline constexpr std::array<FormatLimits, 4> format_limits = {
    {{"FP16", -24, -14, 15.99930, "2^-24", "2^-14", "65504"},
     {"FP8 E5M2", -16, -14, 15.80735, "2^-16", "2^-14", "57344"},
     {"FP8 E4M3", -9, -6, 8.80735, "2^-9", "2^-6", "448"},
     {"BF16", -133, -126, 127.99436, "2^-133", "2^-126", "3.4e38"}}};

/// Steps `from` up to, but not including, `to`.
struct HeatColumn {
  double from, to;
  train::Histogram sizes{};  ///< |g S| of all parameters
};

struct HeatMap {
  const Run* run;
  std::vector<HeatColumn> columns{};
  int low = 0,
      high = 0;  ///< binary logarithms at the edges; what lies beyond is counted in the row at the edge
  std::size_t looks = 0;  ///< one column may hold several

  int rows() const { return high - low; }
  /// The share of the column's gradients that are not zero; row 0 is the highest.
  double share(std::size_t column, int row) const;
};

/// The map of the group's first run that was looked at twice; empty when none was.
std::optional<HeatMap> heat_map(const Group& group, std::size_t most_columns);

/// 0: nothing; 1 .. 6: darker and darker. `heat_levels[i]` is the largest share of level i + 1.
inline constexpr std::array<double, 6> heat_levels = {0.001, 0.01, 0.03, 0.06, 0.12, 1};
int heat_level(double share);

/// The map in words and as a table of a few steps, for a page that is read aloud.
std::string heat_words(const HeatMap& map);
Table heat_table(const HeatMap& map);

}  // namespace tinymp::report
