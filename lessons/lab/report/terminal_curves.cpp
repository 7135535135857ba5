#include <lessons/lab/report/axis.h>
#include <lessons/lab/report/canvas.h>
#include <lessons/lab/report/mean.h>
#include <lessons/lab/report/sentences.h>
#include <lessons/lab/report/terminal_curves.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

namespace tinymp::report {
namespace {

struct Axes {
  Axis step, value;
};

/// 0 .. 1 -> 0 .. count - 1, the nearest; -1 for NaN.
int cell_of(double position, int count) {
  if (std::isnan(position)) return -1;
  return static_cast<int>(std::clamp(position, 0.0, 1.0) * (count - 1) + 0.5);
}

/// For each dot across: the mean of the values whose steps fall on it, NaN where there is none.
std::vector<double> columns_of(const Curve& curve, const std::vector<double>& values, const Axis& axis,
                               int across) {
  std::vector<Mean> means(static_cast<std::size_t>(across));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) continue;
    means[static_cast<std::size_t>(cell_of(axis.position(curve.step[i]), across))].add(values[i]);
  }
  std::vector<double> columns;
  for (const Mean& mean : means) columns.push_back(mean.value());
  return columns;
}

struct Spot {
  int x, y;
};

/// The curve as dots, left to right, where it can be shown.
std::vector<Spot> spots_of(const std::vector<double>& columns, const Axis& axis, int down) {
  std::vector<Spot> spots;
  for (std::size_t x = 0; x < columns.size(); ++x) {
    const int up = cell_of(axis.position(columns[x]), down);
    if (up >= 0) spots.push_back({static_cast<int>(x), down - 1 - up});
  }
  return spots;
}

/// A scale stays as it is until it jumps; everything else goes straight from point to point. A gap of many
/// columns (steps not finite) is left open.
void draw_line(Canvas& canvas, const std::vector<Spot>& spots, bool steps, int widest_gap,
               std::size_t index) {
  for (std::size_t i = 0; i < spots.size(); ++i) {
    canvas.dot(spots[i].x, spots[i].y, index);
    if (i == 0 || spots[i].x - spots[i - 1].x > widest_gap) continue;
    if (steps) {
      canvas.line(spots[i - 1].x, spots[i - 1].y, spots[i].x, spots[i - 1].y, index);
      canvas.line(spots[i].x, spots[i - 1].y, spots[i].x, spots[i].y, index);
    } else {
      canvas.line(spots[i - 1].x, spots[i - 1].y, spots[i].x, spots[i].y, index);
    }
  }
}

/// Logged steps lie this many dots apart at most.
int spacing(const Curve& curve, const Axis& axis, int across) {
  int widest = 1;
  for (std::size_t i = 1; i < curve.step.size(); ++i) {
    widest = std::max(widest, cell_of(axis.position(curve.step[i]), across) -
                                  cell_of(axis.position(curve.step[i - 1]), across));
  }
  return widest;
}

void draw_curve(Canvas& canvas, const Panel& panel, std::size_t which, const Axes& axes, bool band) {
  const Curve& curve = panel.curves[which];
  const std::size_t index = panel.group[which];
  const int across = canvas.dots_across(), down = canvas.dots_down();
  if (band && curve.seeds > 1) {
    for (const auto* edge : {&curve.low, &curve.high}) {
      for (const Spot& spot : spots_of(columns_of(curve, *edge, axes.step, across), axes.value, down)) {
        if (spot.x % 2 == 0) canvas.dot(spot.x, spot.y, index);
      }
    }
  }
  const auto spots = spots_of(columns_of(curve, curve.mean, axes.step, across), axes.value, down);
  draw_line(canvas, spots, is_held(panel.quantity), spacing(curve, axes.step, across), index);
}

/// Markers at regular places, shifted from curve to curve so that one on top of another still shows.
void mark_curve(Canvas& canvas, const Panel& panel, std::size_t which, const Axes& axes,
                const TerminalStyle& style) {
  const Curve& curve = panel.curves[which];
  const std::size_t index = panel.group[which];
  const int across = canvas.dots_across(), down = canvas.dots_down();
  const auto spots = spots_of(columns_of(curve, curve.mean, axes.step, across), axes.value, down);
  const int period = across / 5;
  int next = period * static_cast<int>(2 * which + 1) / static_cast<int>(2 * panel.curves.size());
  for (const Spot& spot : spots) {
    if (spot.x < next) continue;
    canvas.put(spot.x, spot.y, marker(index, style), index);
    while (next <= spot.x) next += std::max(1, period);
  }
  if (spots.size() == 1) canvas.put(spots[0].x, spots[0].y, marker(index, style), index);
  for (const CurveEnd& end : curve.ends) {
    const int x = cell_of(axes.step.position(end.step), across),
              up = cell_of(axes.value.position(end.value), down);
    canvas.put(x, up < 0 ? 0 : down - 1 - up, style.unicode ? "✗" : "X", index);
  }
}

std::string spaces(int count) { return std::string(static_cast<std::size_t>(std::max(0, count)), ' '); }

std::string bottom_axis(const Axis& axis, int label_width, int columns, bool unicode) {
  std::vector<std::string> rule(static_cast<std::size_t>(columns), unicode ? "─" : "-");
  std::string labels;
  for (const Tick& tick : axis.ticks()) {
    const int column = cell_of(axis.position(tick.value), columns);
    rule[static_cast<std::size_t>(column)] = unicode ? "┬" : "+";
    const int width = display_width(tick.label);
    const int start = std::clamp(column - width / 2, 0, std::max(0, columns - width));
    const int used = display_width(labels);
    if (start > used || labels.empty()) labels += spaces(start - used) + tick.label;
  }
  std::string line = spaces(label_width) + (unicode ? " └" : " +");
  for (const std::string& piece : rule) line += piece;
  return line + "\n" + spaces(label_width + 2) + labels + "\n";
}

std::string last_value(const Panel& panel, const Curve& curve) {
  const auto last =
      std::find_if(curve.mean.rbegin(), curve.mean.rend(), [](double v) { return std::isfinite(v); });
  return last == curve.mean.rend() ? "" : value_text(panel, *last);
}

/// Of each curve the one that is drawn on top of it all along, no more than a dot away: in ASCII a dot is a
/// character, and one beside another is seen.
std::vector<std::optional<std::size_t>> covered_in(const Canvas& canvas, const Panel& panel, const Axes& axes,
                                                   const TerminalStyle& style) {
  std::vector<std::vector<Drawn>> drawn;
  for (const Curve& curve : panel.curves) {
    std::vector<Drawn>& points = drawn.emplace_back();
    for (const Spot& spot : spots_of(columns_of(curve, curve.mean, axes.step, canvas.dots_across()),
                                     axes.value, canvas.dots_down()))
      points.push_back({static_cast<double>(spot.x), static_cast<double>(spot.y)});
  }
  return covered_by(drawn, style.unicode ? 1 : 0);
}

/// "● FP16, S = 1  2.6  ✗ not finite from step 13"; over several lines where it must be.
std::string legend_text(const Panel& panel, std::size_t which, std::optional<std::size_t> above,
                        const TerminalStyle& style) {
  const Curve& curve = panel.curves[which];
  std::string text = printable(curve.name, style.unicode);
  if (const std::string value = last_value(panel, curve); !value.empty()) text += "  " + value;
  if (!curve.note.empty()) text += "  (on average " + curve.note + ")";
  if (!curve.ends.empty()) {
    text += concat(style.unicode ? "  ✗ " : "  X ", "not finite from ", ends_text(curve));
  }
  if (above) text += concat("  (covered by ", printable(panel.curves[*above].name, style.unicode), ")");
  std::string lines,
      before = "  " + paint(marker(panel.group[which], style), panel.group[which], style) + " ";
  for (const std::string& line : wrap(text, std::max(8, style.width - 4))) {
    lines += before + line + "\n";
    before = "    ";
  }
  return lines;
}

std::string title_line(const Panel& panel, const TerminalStyle& style, bool band) {
  std::string title = panel.title;
  if (panel.scale == Scale::decades) title += ", logarithmic";
  std::size_t fewest = 0, most = 0;
  for (const Curve& curve : panel.curves) {
    fewest = fewest == 0 ? curve.seeds : std::min(fewest, curve.seeds);
    most = std::max(most, curve.seeds);
  }
  if (most > 1)
    title += concat(band ? ", mean and band of " : ", mean of ", fewest < most ? concat(fewest, " to ") : "",
                    most, " seeds");
  return bold(shorten(printable(title, style.unicode), style.width, style.unicode), style) + "\n";
}

}  // namespace

std::string marker(std::size_t index, const TerminalStyle& style) {
  constexpr std::array<const char*, 16> unicode = {"●", "▲", "■", "◆", "○", "△", "□", "◇",
                                                   "▼", "▽", "◀", "▶", "◁", "▷", "◐", "◑"};
  constexpr std::array<const char*, 16> ascii = {"o", "#", "+", "*", "@", "%", "=", "&",
                                                 "$", "<", ">", "?", "a", "b", "c", "d"};
  return style.unicode ? unicode[index % unicode.size()] : ascii[index % ascii.size()];
}

std::string terminal_chart(const Panel& panel, const TerminalStyle& style, const ChartOptions& options) {
  const int rows = std::max(4, options.height);
  const int width = std::clamp(style.width, 40, 100);
  Axes axes{step_axis(panel.curves, std::max(3, width / 12)),
            value_axis(panel, options.band, std::max(3, rows / 2))};

  std::vector<std::string> labels(static_cast<std::size_t>(rows));
  int label_width = 0;
  for (const Tick& tick : axes.value.ticks()) {
    const int up = cell_of(axes.value.position(tick.value), rows);
    labels[static_cast<std::size_t>(rows - 1 - up)] = tick.label;
    label_width = std::max(label_width, display_width(tick.label));
  }

  const int columns = std::max(8, width - label_width - 2);
  Canvas canvas(columns, rows, style);
  for (std::size_t i = 0; i < panel.curves.size(); ++i) draw_curve(canvas, panel, i, axes, options.band);
  for (std::size_t i = 0; i < panel.curves.size(); ++i) mark_curve(canvas, panel, i, axes, style);

  std::string text = title_line(panel, style, options.band);
  for (int row = 0; row < rows; ++row) {
    const std::string& label = labels[static_cast<std::size_t>(row)];
    const char* bar = style.unicode ? (label.empty() ? " │" : " ┤") : " |";
    text += pad(label, label_width, Align::right) + bar + canvas.row(row) + "\n";
  }
  text += bottom_axis(axes.step, label_width, columns, style.unicode);
  const std::vector<std::optional<std::size_t>> covered = covered_in(canvas, panel, axes, style);
  for (std::size_t i = 0; i < panel.curves.size(); ++i) text += legend_text(panel, i, covered[i], style);
  return text;
}

}  // namespace tinymp::report
