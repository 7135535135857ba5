#include <unistd.h>

#include <lessons/lab/report/live_curves.h>
#include <lessons/lab/report/number.h>
#include <lessons/lab/report/terminal_curves.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string_view>
#include <utility>

namespace tinymp::report {
namespace {

constexpr std::chrono::milliseconds draw_curves_every{250};
constexpr std::chrono::seconds say_every{10};
constexpr int cheap = 60;  ///< a drawing that took t is followed by a pause of 60 t: under 2 % of the time
constexpr int status_lines = 2, highest_chart = 12, lowest_chart = 4, narrowest_chart = 40;

/// A terminal without cursor movements would show one drawing below the other.
bool moves_cursor(int file) {
  const char* const term = std::getenv("TERM");
  return isatty(file) == 1 && term != nullptr && std::string_view(term) != "dumb" && *term != '\0';
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  return lines;
}

std::string rate_text(double value) { return value >= 100 ? fixed(value, 0) : short_number(value, 2); }

/// Columns of a text with escape sequences for colour.
int shown_width(const std::string& text) {
  std::string plain;
  bool escape = false;
  for (const char c : text) {
    if (c == '\x1b') escape = true;
    if (!escape) plain += c;
    if (escape && c == 'm') escape = false;
  }
  return display_width(plain);
}

}  // namespace

void ThinSteps::add(const train::LogRecord& step) {
  ++seen_;
  if (std::isfinite(step.loss)) {
    sum_ += step.loss;
    ++finite_;
  }
  if (seen_ < each_) return;
  train::LogRecord point = step;
  if (finite_ > 0) point.loss = sum_ / static_cast<double>(finite_);
  points_.push_back(point);
  seen_ = finite_ = 0;
  sum_ = 0;
  if (points_.size() == most) halve();
}

void ThinSteps::halve() {
  for (std::size_t i = 0; i < most / 2; ++i) {
    const double a = points_[2 * i].loss, b = points_[2 * i + 1].loss;
    points_[i] = points_[2 * i + 1];
    if (std::isfinite(a)) points_[i].loss = std::isfinite(b) ? a + (b - a) / 2 : a;
  }
  points_.resize(most / 2);
  each_ *= 2;
}

LiveCurves::LiveCurves(std::FILE* out, bool plain)
    : out_(out), style_(terminal_style(fileno(out), plain)), draws_(moves_cursor(fileno(out))) {}

void LiveCurves::add(const Run& run) {
  if (!draws_) return;
  ThinSteps thin;
  for (const train::LogRecord& step : run.steps) thin.add(step);
  const train::RunHeader& h = run.header;  // as begin() gets it, so that both are one group
  Run kept{.path = {},
           .header = {.question = h.question,
                      .name = h.name,
                      .recipe = h.recipe,
                      .seed = h.seed,
                      .optimizer = h.optimizer,
                      .steps = h.steps,
                      .batch = h.batch,
                      .micro_batches = h.micro_batches},
           .steps = thin.points(),
           .result = {}};
  before_.push_back(std::move(kept));
}

void LiveCurves::begin(const train::RunHeader& header) {
  now_.header = header;
  steps_ = {};
  last_ = {};
  first_step_ = -1;
  drawn_.clear();
  start_ = Clock::now();
  next_ = start_ + (draws_ ? Clock::duration(draw_curves_every) : Clock::duration(say_every));
}

void LiveCurves::update(const train::LogRecord& step) {
  if (first_step_ < 0) first_step_ = step.step - 1;
  last_ = step;
  if (draws_) steps_.add(step);
  const Clock::time_point now = Clock::now();
  if (now >= next_) show(now);
}

void LiveCurves::finish() {
  if (!draws_) return;
  const std::string text = up() + "\x1b[J";
  if (!drawn_.empty()) std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
  drawn_.clear();
  Run over = now_;
  over.steps = steps_.points();
  before_.push_back(std::move(over));
}

/// To the first line of the drawing. A terminal that has become narrower since has broken its lines.
std::string LiveCurves::up() const {
  const int width = std::max(1, terminal_width(fileno(out_)));
  int count = 0;
  for (const int drawn : drawn_) count += std::max(1, (drawn + width - 1) / width);
  return count == 0 ? "\r" : concat("\r\x1b[", count, "A");
}

/// One write, after which the cursor stands below the drawing: whatever ends the program then finds the screen whole.
void LiveCurves::show(Clock::time_point now) {
  style_.width = terminal_width(fileno(out_));
  const int room = terminal_height(fileno(out_)) - 1;
  std::string text;
  if (draws_) {
    const std::vector<std::string> shown = lines(now, room);
    text = up();
    drawn_.clear();
    for (const std::string& line : shown) {
      text += line + "\x1b[K\n";
      drawn_.push_back(shown_width(line));
    }
    text += "\x1b[J";
  } else {
    for (const std::string& line : status(now)) text += (text.empty() ? "" : "  ") + line;
    text = printable(text, style_.unicode) + "\n";
  }
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
  const Clock::duration pause = draws_ ? Clock::duration(draw_curves_every) : Clock::duration(say_every);
  const Clock::time_point end = Clock::now();
  next_ = end + std::max(pause, cheap * (end - now));
}

std::vector<std::string> LiveCurves::lines(Clock::time_point now, int rows) const {
  std::vector<std::string> all;
  const int left = std::max(0, rows - status_lines);
  if (left >= lowest_chart + 4 && style_.width > narrowest_chart) all = split(chart(left));
  if (static_cast<int>(all.size()) > left) all.resize(static_cast<std::size_t>(left));
  for (std::string& line : status(now))
    all.push_back(shorten(printable(line, style_.unicode), style_.width - 1, style_.unicode));
  return all;
}

/// Groups of the runs before, and over them the curve that grows, in the first colour. The axis is as long as the run.
std::string LiveCurves::chart(int rows) const {
  std::vector<Run> same;
  for (const Run& run : before_)
    if (run.header.question == now_.header.question) same.push_back(run);
  std::vector<Group> groups = group_by_recipe(same);
  Run growing{.path = {}, .header = now_.header, .steps = steps_.points(), .result = {}};
  if (growing.steps.empty()) return "";
  groups.push_back({concat(now_.header.name, ", seed ", now_.header.seed, ", now"), {&growing}});
  Panel panel = make_panel(groups, Quantity::loss);
  for (std::size_t& group : panel.group) group = (group + 1) % groups.size();
  Curve& last = panel.curves.back();
  if (last.step.back() < static_cast<double>(now_.header.steps)) {
    last.step.push_back(static_cast<double>(now_.header.steps));
    for (std::vector<double>* values : {&last.mean, &last.low, &last.high})
      values->push_back(train::not_measured);
  }
  TerminalStyle style = style_;
  --style.width;  // a full line would wrap on some terminals
  int height = highest_chart;
  for (;;) {
    std::string text = terminal_chart(panel, style, {.height = height, .band = false});
    const int over = static_cast<int>(std::ranges::count(text, '\n')) - rows;
    if (over <= 0 || height <= lowest_chart) return text;
    height = std::max(lowest_chart, height - over);
  }
}

/// "fp16_dynamic, seed 1  217/400  loss 0.0741  S 1024  2 skips", "350 steps/s  22400 images/s  3 s left"
std::vector<std::string> LiveCurves::status(Clock::time_point now) const {
  std::string run = concat(now_.header.name, ", seed ", now_.header.seed, "  ", last_.step, "/",
                           now_.header.steps, "  loss ", short_number(last_.loss, 4));
  if (last_.scale != 1) run += "  S " + scale_text(last_.scale);
  if (last_.skips > 0) run += concat("  ", last_.skips, last_.skips == 1 ? " skip" : " skips");
  const double spent = std::chrono::duration<double>(now - start_).count();
  const double rate = static_cast<double>(last_.step - first_step_) / spent;
  const auto left = static_cast<double>(now_.header.steps - last_.step);
  const char* const examples = now_.header.data.starts_with("text") ? " rows/s  " : " images/s  ";
  return {run,
          concat(rate_text(rate), " steps/s  ", rate_text(rate * static_cast<double>(now_.header.samples())),
                 examples, duration(left / rate), " left")};
}

}  // namespace tinymp::report
