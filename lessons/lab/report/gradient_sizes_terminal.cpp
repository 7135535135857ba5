#include <lessons/lab/report/gradient_sizes_terminal.h>
#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>

namespace tinymp::report {
namespace {

constexpr int rows = 6, label_width = 6;

std::string repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

/// The part of a bar that lies in the row `up` rows above the axis.
std::string cell(const Bars& bars, int exponent, int up, const TerminalStyle& style) {
  constexpr std::array<const char*, 9> blocks = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double share = bars.share(exponent);
  if (share == 0) return " ";
  const double height = std::max(0.125, share / bars.highest() * rows);
  const int eighths = static_cast<int>(std::clamp(8 * (height - up), 0.0, 8.0) + 0.5);
  const bool is_lost = bars.region_of(exponent).is_lost;
  if (style.unicode && !is_lost) return blocks[static_cast<std::size_t>(eighths)];
  if (eighths < 4) return up == 0 ? "." : " ";  // no share is too small to be seen
  return style.unicode ? "░" : is_lost ? ":" : "#";
}

/// One line over the whole width, region by region.
template <class Text>
std::string across(const Bars& bars, const char* between, Text text) {
  std::string line;
  for (const Bars::Region& region : bars.regions)
    line += text(region) + (&region == &bars.regions.back() ? "" : between);
  return line;
}

std::string name_in(const Bars::Region& region) {
  const int width = region.to - region.from + 1, used = display_width(region.name);
  if (used > width) return repeated(" ", width);
  return pad(repeated(" ", (width - used) / 2) + region.name, width);
}

/// "2^-40     2^-32 ...", each under its bar, a column further right for each line that stands before it.
std::string tick_line(const Bars& bars, const TerminalStyle& style) {
  std::string line;
  for (int e = bars.first; e <= bars.last(); ++e) {
    if (e % 8 != 0) continue;
    int column = e - bars.first;
    for (const Bars::Region& region : bars.regions) column += region.to < e;
    const std::string label = concat("2^", e);
    line = pad(line, column) + (style.unicode ? pretty_power(label) : label);
  }
  return line;
}

std::string trimmed(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// What went wrong in a look: 0 .. 1.
double gradients_lost(const LastSizes& look) {
  const train::GradientSizes all = look.sizes->gradients();
  const std::int64_t whole = all.sizes.nonzero();
  const std::int64_t lost = std::max(all.below_fp16(), all.flushed) + all.overflowed + all.sizes.nonfinite;
  return whole == 0 ? 0 : static_cast<double>(lost) / static_cast<double>(whole);
}
double updates_lost(const LastSizes& look) {
  const std::optional<train::UpdateSizes> all = look.sizes->updates();
  if (!all || all->ratios.values() == 0) return 0;
  return static_cast<double>(all->underflowed + all->absorbed) / static_cast<double>(all->ratios.values());
}

std::string wrapped(const std::string& text, const TerminalStyle& style) {
  std::string lines;
  if (text.empty()) return lines;
  for (const std::string& line : wrap(printable(text, style.unicode), style.width)) lines += line + "\n";
  return lines;
}

struct Shown {
  Bars bars;
  Table table;
  std::string notes;  ///< on the table's words
  double lost;
};

/// The worst in full, and of the others the first sentence; when even the worst is good enough, its own.
std::string chosen(const std::vector<Shown>& all, double enough, const TerminalStyle& style) {
  if (all.empty()) return "";
  const auto worst = std::ranges::max_element(all, {}, &Shown::lost);
  std::string text;
  for (const Shown& shown : all) {
    const bool is_bad = worst->lost >= enough;
    if (!is_bad && &shown != &*worst) continue;
    if (!is_bad || &shown != &*worst) {
      text +=
          wrapped(shown.bars.title + ": " + shown.bars.of + ". " + shown.bars.words.front(), style) + "\n";
      continue;
    }
    text += terminal_bars(shown.bars, style);
    std::string words;
    for (const std::string& sentence : shown.bars.words) words += (words.empty() ? "" : " ") + sentence;
    text += wrapped(words, style) + "\n" + format_table(shown.table, style);
    text += wrapped(shown.notes, style) + "\n";
  }
  return text;
}

}  // namespace

std::string terminal_bars(const Bars& bars, const TerminalStyle& style) {
  const std::string title =
      bold(shorten(printable(bars.title + ": " + bars.of, style.unicode), style.width, style.unicode),
           style) +
      "\n";
  const int columns = static_cast<int>(bars.counts.size() + bars.regions.size()) - 1;
  if (style.width < label_width + 2 + columns) return title;
  const char* wall = style.unicode ? "│" : "|";
  const std::string margin = repeated(" ", label_width + 2);
  std::string text = title + trimmed(margin + across(bars, wall, name_in));
  for (int up = rows - 1; up >= 0; --up) {
    const std::string label = up == rows - 1 ? percent(bars.highest()) : "";
    const std::string line = across(bars, wall, [&](const Bars::Region& region) {
      std::string part;
      for (int e = region.from; e <= region.to; ++e) part += cell(bars, e, up, style);
      return part;
    });
    text += trimmed(pad(label, label_width, Align::right) + " " + wall + line);
  }
  const std::string rule = across(bars, style.unicode ? "┴" : "+", [&](const Bars::Region& region) {
    return repeated(style.unicode ? "─" : "-", region.to - region.from + 1);
  });
  text += repeated(" ", label_width + 1) + (style.unicode ? "└" : "+") + rule + "\n";
  return text + margin + tick_line(bars, style) + "\n";
}

std::string terminal_sizes(std::span<const Group> groups, const TerminalStyle& style) {
  std::vector<Shown> gradients, wide, updates;
  std::string eight_bits;
  for (const Group& group : groups) {
    const std::optional<LastSizes> look = last_sizes(group);
    if (!look) continue;
    const Recipe& recipe = look->run->header.recipe;
    (recipe.gradient == DType::f32 ? wide : gradients)
        .push_back({gradient_bars(*look, group.name), gradient_table(*look->sizes), gradient_notes,
                    gradients_lost(*look)});
    if (const Table table = eight_bit_table(*look->sizes); !table.rows.empty())
      eight_bits += wrapped(eight_bit_title(*look, group.name), style) + format_table(table, style) +
                    wrapped(eight_bit_notes, style) + "\n";
    const std::optional<Bars> bars = update_bars(*look, group.name);
    if (bars && recipe.master != DType::f32)
      updates.push_back({*bars, update_table(*look->sizes), "", updates_lost(*look)});
  }
  // What FP32 holds is told where nothing narrower was run.
  return chosen(gradients.empty() ? wide : gradients, 0.01, style) + chosen(updates, 0.05, style) +
         eight_bits;
}

}  // namespace tinymp::report
