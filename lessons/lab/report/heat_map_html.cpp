#include <fmt/format.h>

#include <lessons/lab/report/curve_style.h>
#include <lessons/lab/report/heat_map.h>
#include <lessons/lab/report/html_parts.h>
#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <algorithm>

// A map is drawn by the page's markup alone. page/heat_map.js moves its window when the charts beside it are zoomed.
namespace tinymp::report {
namespace {

constexpr std::size_t columns_of_all = 600, fewest_columns = 24, most_columns = 120, maps_in_sight = 3,
                      most_maps = 12;
constexpr double ruler_width = 78;  // pixels for each format

/// From the upper edge, in percent.
double y_of(const HeatMap& map, double exponent) {
  return 100 * (map.high - std::clamp<double>(exponent, map.low, map.high)) / map.rows();
}

/// Neighbours of one level are one rectangle, all rectangles of a level are one path.
std::string cells(const HeatMap& map) {
  std::array<std::string, heat_levels.size()> paths;
  for (int row = 0; row < map.rows(); ++row) {
    for (std::size_t begin = 0; begin < map.columns.size();) {
      const int level = heat_level(map.share(begin, row));
      std::size_t end = begin + 1;
      while (end < map.columns.size() && heat_level(map.share(end, row)) == level) ++end;
      const double from = map.columns[begin].from, to = map.columns[end - 1].to;
      if (level > 0)
        paths[static_cast<std::size_t>(level - 1)] +=
            fmt::format("M{:.6g} {}H{:.6g}v1H{:.6g}z", from, row, to, from);
      begin = end;
    }
  }
  std::string text;
  for (std::size_t i = 0; i < paths.size(); ++i)
    if (!paths[i].empty()) text += concat("<path class=\"heat-", i + 1, "\" d=\"", paths[i], "\"/>");
  return text;
}

std::string line(const HeatMap& map, double exponent, const char* kind) {
  return fmt::format("<line class=\"{0}\" x1=\"0\" x2=\"100%\" y1=\"{1:.2f}%\" y2=\"{1:.2f}%\"/>", kind,
                     y_of(map, exponent));
}

/// Over the cells: the powers of two, and the limits of the narrow formats all across.
std::string lines(const HeatMap& map) {
  std::string text;
  for (int e = map.low; e <= map.high; ++e)
    if (e % 8 == 0)
      text += line(map, e, "grid") +
              fmt::format("<text x=\"0\" dx=\"-8\" y=\"{:.2f}%\" dy=\"4\" text-anchor=\"end\">{}</text>",
                          y_of(map, e), pretty_power(concat("2^", e)));
  for (const FormatLimits& format : format_limits) {
    const bool is_half = std::string_view(format.name) == "FP16";
    for (const double limit : {format.smallest, format.smallest_normal, format.largest})
      if (limit > map.low && limit < map.high) text += line(map, limit, is_half ? "limit" : "limit-8");
  }
  return text;
}

std::string pretty_large(const char* text) {
  return std::string_view(text) == "3.4e38" ? "3.4·10³⁸" : pretty_power(text);
}

/// Beside the map the range of one format: normal numbers filled, subnormal ones hollow, an arrow where it goes on.
std::string ruler(const HeatMap& map, const FormatLimits& format, std::size_t index) {
  const double x = 18 + ruler_width * static_cast<double>(index);
  const double top = y_of(map, format.largest), normal = y_of(map, format.smallest_normal),
               bottom = y_of(map, format.smallest);
  const bool above = format.largest > map.high, below = format.smallest < map.low;
  std::string text =
      fmt::format("<text class=\"name\" x=\"{}\" y=\"0\" dy=\"-10\">{}</text>", x, format.name);
  text += fmt::format("<rect class=\"normal\" x=\"{}\" y=\"{:.2f}%\" width=\"10\" height=\"{:.2f}%\"/>", x,
                      top, normal - top);
  if (bottom > normal)
    text += fmt::format("<rect class=\"subnormal\" x=\"{}\" y=\"{:.2f}%\" width=\"10\" height=\"{:.2f}%\"/>",
                        x, normal, bottom - normal);
  const auto label = [&](double at, int dy, const std::string& words) {
    return fmt::format("<text x=\"{}\" y=\"{:.2f}%\" dy=\"{}\">{}</text>", x + 15, at, dy, words);
  };
  text += label(top, above ? 12 : 4, (above ? "↑ " : "") + pretty_large(format.largest_text));
  if (below) return text + label(100, -4, "↓ " + pretty_power(format.normal_text));
  return text + label(normal, 4, pretty_power(format.normal_text)) +
         label(bottom, 4, pretty_power(format.smallest_text));
}

/// About five round steps.
std::string step_ticks(double first, double last) {
  double stride = 1;
  for (int i = 0; (last - first) / stride > 6; ++i) stride *= i % 3 == 1 ? 2.5 : 2;
  std::string text;
  for (double step = std::ceil(first / stride) * stride; step <= last; step += stride)
    text += fmt::format("<text x=\"{:.2f}%\" y=\"100%\" dy=\"18\" text-anchor=\"middle\">{}</text>",
                        100 * (step - first) / (last - first), short_number(step, 7));
  return text;
}

std::string legend() {
  std::string text = "<p class=\"heat-legend\">share of the gradients that are not zero";
  for (std::size_t i = 0; i < heat_levels.size(); ++i)
    text += concat(" <span><svg aria-hidden=\"true\"><rect class=\"heat-", i + 1,
                   "\" width=\"100%\" height=\"100%\"/></svg>", i + 1 < heat_levels.size() ? "to " : "more",
                   i + 1 < heat_levels.size() ? short_number(100 * heat_levels[i], 3) + " %" : "", "</span>");
  return text +
         "</p>\n<p class=\"heat-legend\">numbers of a format: <span><b></b>normal</span> "
         "<span><b class=\"hollow\"></b>subnormal</span> <span>lines: limits of FP16 (dashed) and of FP8 "
         "(dotted)</span></p>\n";
}

std::string map_html(const HeatMap& map, const std::string& name, std::size_t index, double last_step) {
  const double first = 0, last = std::max(last_step, map.columns.back().to);
  const std::string words = heat_words(map);
  const std::string of = concat(name, ", seed ", map.run->header.seed, ", ", map.looks, " looks");
  Table table = heat_table(map);
  for (std::vector<std::string>& row : table.rows)
    for (std::string& cell : row) cell = pretty_power(cell);
  std::string rulers;
  for (std::size_t i = 0; i < format_limits.size(); ++i) rulers += ruler(map, format_limits[i], i);
  return concat("<figure class=\"heat card\" data-curve=\"", index, "\">\n<figcaption>", swatch(index),
                "<strong>Exponents of the gradients times S over the steps</strong><span>", escape_html(of),
                "</span></figcaption>\n<div class=\"heat-row\"><div class=\"heat-plot\"><svg class=\"cells\" "
                "role=\"img\" "
                "aria-label=\"",
                escape_html(concat("Exponents of the gradients against the step: ", of, ". ", words)),
                "\" viewBox=\"", first, " 0 ", short_number(last - first, 15), " ", map.rows(),
                "\" preserveAspectRatio=\"none\">", cells(map),
                "</svg><svg class=\"marks\" aria-hidden=\"true\">", lines(map), "<g class=\"ticks\">",
                step_ticks(first, last), "</g></svg></div><svg class=\"ruler\" aria-hidden=\"true\" width=\"",
                ruler_width * format_limits.size() + 14, "\">", rulers, "</svg></div>\n", legend(), "<p>",
                pretty_powers(escape_html(words)), "</p>\n<details><summary>As a table</summary>",
                table_html(table, "table"), "</details></figure>\n");
}

/// The fold of all maps but the first ones; of many groups not all have a map, which the fold says.
std::string more_html(std::size_t maps) {
  const std::size_t more = std::min(maps, most_maps) - maps_in_sight;
  return concat("<details class=\"more-maps\"><summary>", more, more == 1 ? " more map" : " more maps",
                maps > most_maps ? concat(" of ", maps - maps_in_sight, " more groups") : "", "</summary>\n");
}

}  // namespace

std::string heat_maps_html(std::span<const Group> groups) {
  std::size_t maps = 0;
  double last_step = 1;
  for (const Group& group : groups) {
    maps += heat_map(group, 1).has_value();
    for (const Run* run : group.runs)
      if (!run->steps.empty()) last_step = std::max(last_step, static_cast<double>(run->steps.back().step));
  }
  if (maps == 0) return "";
  const std::size_t columns =
      std::clamp(columns_of_all / std::min(maps, most_maps), fewest_columns, most_columns);
  std::string text = "<div class=\"heat-maps\">\n";
  std::size_t drawn = 0;
  for (std::size_t g = 0; g < groups.size() && drawn < most_maps; ++g) {
    const std::optional<HeatMap> map = heat_map(groups[g], columns);
    if (!map) continue;
    if (drawn++ == maps_in_sight) text += more_html(maps);
    text += map_html(*map, groups[g].name, g, 1.002 * last_step);
  }
  return text + (drawn > maps_in_sight ? "</details>" : "") + "</div>\n";
}

}  // namespace tinymp::report
