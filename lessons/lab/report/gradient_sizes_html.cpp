#include <fmt/format.h>

#include <lessons/lab/report/curve_style.h>
#include <lessons/lab/report/html_parts.h>
#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>

namespace tinymp::report {
namespace {

/// The left edge of a bar, in percent of the width.
double left_of(const Bars& bars, int exponent) {
  return 100.0 * (exponent - bars.first) / static_cast<double>(bars.counts.size());
}

std::string bar_html(const Bars& bars, int exponent, std::size_t index) {
  if (bars.share(exponent) == 0) return "";
  const double height = std::max(0.6, 100 * bars.share(exponent) / bars.highest());
  const double width = left_of(bars, exponent + 1) - left_of(bars, exponent);
  const char* colour = curve_style(index).colour;
  const bool hollow = bars.region_of(exponent).is_lost;
  return fmt::format(
      "<rect class=\"bar\" x=\"{:.2f}%\" y=\"{:.2f}%\" width=\"{:.2f}%\" height=\"{:.2f}%\" "
      "style=\"stroke:var({});fill:{}\"/>",
      left_of(bars, exponent) + 0.15 * width, 100 - height, 0.7 * width, height, colour,
      hollow ? "none" : concat("var(", colour, ")"));
}

/// The lines end where the drawing does, and the names stand above it: a name may be wider than its region,
/// and touches no line. Where the page is narrow every second name goes up by a line (page.css), so that none
/// touches its neighbour either.
std::string regions_html(const Bars& bars) {
  std::string text;
  bool raised = false;
  for (const Bars::Region& region : bars.regions) {
    const double from = left_of(bars, region.from), to = left_of(bars, region.to + 1);
    if (region.from > bars.first)
      text +=
          fmt::format("<line class=\"limit\" x1=\"{0:.2f}%\" x2=\"{0:.2f}%\" y1=\"0\" y2=\"100%\"/>", from);
    text += fmt::format("<text class=\"{}\" x=\"{:.2f}%\" y=\"0\" dy=\"-6\" text-anchor=\"middle\">{}</text>",
                        raised ? "region raised" : "region", (from + to) / 2, escape_html(region.name));
    raised = !raised;
  }
  return text;
}

std::string axes_html(const Bars& bars) {
  std::string text = fmt::format(
      "<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"0\" y2=\"0\"/><text x=\"0\" y=\"0\" dx=\"-8\" dy=\"4\" "
      "text-anchor=\"end\">{}</text>",
      percent(bars.highest()));
  for (int e = bars.first; e <= bars.last(); ++e) {
    if (e % 8 != 0) continue;
    text += fmt::format("<text x=\"{:.2f}%\" y=\"100%\" dy=\"18\" text-anchor=\"middle\">{}</text>",
                        left_of(bars, e + bars.upper_edge_inside), pretty_power(concat("2^", e)));
  }
  return text + "<line class=\"axis\" x1=\"0\" x2=\"100%\" y1=\"100%\" y2=\"100%\"/>";
}

std::string words_of(const Bars& bars) {
  std::string text;
  for (const std::string& sentence : bars.words) text += (text.empty() ? "" : " ") + sentence;
  return text;
}

std::string figure_html(const Bars& bars, std::size_t index, Table table, const std::string& notes) {
  for (std::vector<std::string>& row : table.rows)
    for (std::string& cell : row) cell = escape_html(cell);
  return concat("<figure class=\"sizes card\">\n<figcaption>", swatch(index), "<strong>",
                pretty_powers(escape_html(bars.title)), "</strong><span>", escape_html(bars.of),
                "</span></figcaption>\n<div class=\"static\">", svg_bars(bars, index), "</div>\n<p>",
                pretty_powers(escape_html(words_of(bars))), "</p>\n<details><summary>By parameter</summary>",
                table_html(table, "table"), notes.empty() ? "" : "<p>" + escape_html(notes) + "</p>",
                "</details></figure>\n");
}

/// The table of FP8 under its title; empty without rows.
std::string eight_bits_html(const LastSizes& look, const std::string& name, std::size_t index) {
  Table table = eight_bit_table(*look.sizes);
  if (table.rows.empty()) return "";
  for (std::vector<std::string>& row : table.rows)
    for (std::string& cell : row) cell = escape_html(cell);
  return concat("<figure class=\"sizes card\">\n<figcaption>", swatch(index), "<strong>",
                escape_html(eight_bit_title(look, name)), "</strong></figcaption>\n",
                table_html(table, "table"), "<p>", escape_html(eight_bit_notes), "</p></figure>\n");
}

}  // namespace

std::string svg_bars(const Bars& bars, std::size_t index) {
  std::string label = bars.title + ": " + bars.of + ". " + words_of(bars);
  std::string text = concat("<svg role=\"img\" aria-label=\"", escape_html(label), "\">", axes_html(bars));
  for (int e = bars.first; e <= bars.last(); ++e) text += bar_html(bars, e, index);
  return text + regions_html(bars) + "</svg>";
}

std::string sizes_html(std::span<const Group> groups) {
  std::string text;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::optional<LastSizes> look = last_sizes(groups[g]);
    if (!look) continue;
    text +=
        figure_html(gradient_bars(*look, groups[g].name), g, gradient_table(*look->sizes), gradient_notes);
    if (const std::optional<Bars> bars = update_bars(*look, groups[g].name))
      text += figure_html(*bars, g, update_table(*look->sizes), "");
    text += eight_bits_html(*look, groups[g].name, g);
  }
  return text.empty() ? "" : "<div class=\"panels-of-sizes\">\n" + text + "</div>\n";
}

}  // namespace tinymp::report
