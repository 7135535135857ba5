#include <lessons/lab/report/heat_map.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <algorithm>

namespace tinymp::report {
namespace {

using train::Histogram;

constexpr std::size_t most_rows_of_table = 9;
constexpr int lowest = -64, highest = 40;  // a map of more rows would be a stripe

double step_of(const train::StepSizes& look) { return static_cast<double>(look.step); }

/// A look stands for the steps up to the next one, the last for as many as the one before.
std::vector<HeatColumn> columns_of(const std::vector<train::StepSizes>& looks, std::size_t most) {
  const std::size_t bundle = (looks.size() + most - 1) / most;
  std::vector<HeatColumn> columns;
  for (std::size_t begin = 0; begin < looks.size(); begin += bundle) {
    const std::size_t end = std::min(looks.size(), begin + bundle);
    HeatColumn column{step_of(looks[begin]), 0};
    for (std::size_t i = begin; i < end; ++i) column.sizes += looks[i].gradients().sizes;
    const double last = 2 * step_of(looks.back()) - step_of(looks[looks.size() - 2]);
    column.to = end < looks.size() ? step_of(looks[end]) : last;
    columns.push_back(std::move(column));
  }
  return columns;
}

/// FP16 and FP8 are always in the picture.
void set_range(HeatMap& map) {
  map.low = -28;
  map.high = 18;
  for (const HeatColumn& column : map.columns) {
    if (column.sizes.counts.empty()) continue;
    map.low = std::min(map.low, column.sizes.first - 1);
    map.high = std::max(map.high, column.sizes.first + static_cast<int>(column.sizes.counts.size()));
  }
  map.low = std::max(map.low, lowest);
  map.high = std::min(map.high, highest);
}

/// The exponent that half of the sized gradients do not exceed.
int middle(const Histogram& sizes) {
  std::int64_t below = 0;
  for (std::size_t i = 0; i < sizes.counts.size(); ++i) {
    below += sizes.counts[i];
    if (2 * below >= sizes.sized()) return sizes.first + static_cast<int>(i);
  }
  return sizes.first;
}

std::string exponent_text(int exponent) { return concat("2^", exponent); }

std::string share_text(std::int64_t part, const Histogram& sizes) {
  return percent(train::share(part, sizes.nonzero()));
}

std::int64_t too_small(const Histogram& sizes) { return sizes.up_to(-25); }
std::int64_t too_large(const Histogram& sizes) { return sizes.sized() - sizes.up_to(16) + sizes.nonfinite; }

}  // namespace

double HeatMap::share(std::size_t column, int row) const {
  const Histogram& sizes = columns[column].sizes;
  const int exponent = high - row;  // 2^(exponent - 1) < |g S| <= 2^exponent
  std::int64_t count = sizes.at(exponent);
  if (row == 0) count = sizes.sized() - sizes.up_to(high - 1);
  if (row == rows() - 1) count = sizes.up_to(low + 1);
  return train::share(count, sizes.nonzero());
}

std::optional<HeatMap> heat_map(const Group& group, std::size_t most_columns) {
  for (const Run* run : group.runs) {
    if (run->sizes.size() < 2) continue;
    HeatMap map{.run = run, .columns = columns_of(run->sizes, most_columns), .looks = run->sizes.size()};
    set_range(map);
    return map;
  }
  return std::nullopt;
}

int heat_level(double share) {
  if (!(share > 0)) return 0;
  for (std::size_t i = 0; i < heat_levels.size(); ++i)
    if (share <= heat_levels[i]) return static_cast<int>(i) + 1;
  return static_cast<int>(heat_levels.size());
}

std::string heat_words(const HeatMap& map) {
  const auto at = [](const HeatColumn& column) {
    const Histogram& sizes = column.sizes;
    const std::string step = concat("step ", short_number(column.from, 15), ": ");
    if (sizes.sized() == 0) return step + "no gradient that is finite and not zero";
    return concat(step, "half are ", exponent_text(middle(sizes)), " or smaller, ",
                  share_text(too_small(sizes), sizes), " too small for FP16, ",
                  share_text(too_large(sizes), sizes), " too large");
  };
  return concat("At ", at(map.columns.front()), ". At ", at(map.columns.back()), ".");
}

Table heat_table(const HeatMap& map) {
  constexpr Align right = Align::right;
  Table table{{"from step", "smallest", "half up to", "largest", "too small for FP16", "too large"},
              {right, right, right, right, right, right},
              {}};
  const std::size_t count = map.columns.size(), shown = std::min(count, most_rows_of_table);
  for (std::size_t i = 0; i < shown; ++i) {
    const HeatColumn& column = map.columns[shown == 1 ? 0 : i * (count - 1) / (shown - 1)];
    const Histogram& sizes = column.sizes;
    std::vector<std::string> row{short_number(column.from, 15), "-", "-", "-", "-", "-"};
    if (!sizes.counts.empty()) {
      row[1] = exponent_text(sizes.first);
      row[2] = exponent_text(middle(sizes));
      row[3] = exponent_text(sizes.first + static_cast<int>(sizes.counts.size()) - 1);
      row[4] = share_text(too_small(sizes), sizes);
      row[5] = share_text(too_large(sizes), sizes);
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tinymp::report
