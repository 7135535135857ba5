#include <unistd.h>

#include <lessons/lab/report/number.h>
#include <lessons/lab/report/progress.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <utility>

namespace tinymp::report {
namespace {

constexpr std::chrono::milliseconds draw_bar_every{100};
constexpr int longest_bar = 30, shortest_bar = 6, columns_free = 3;

double seconds_between(std::chrono::steady_clock::time_point a, std::chrono::steady_clock::time_point b) {
  return std::chrono::duration<double>(b - a).count();
}

}  // namespace

Progress::Progress(std::FILE* out, std::string name, std::int64_t total, bool plain)
    : out_(out),
      total_(std::max<std::int64_t>(1, total)),
      style_(terminal_style(fileno(out), plain)),
      visible_(isatty(fileno(out)) == 1) {
  name_ = shorten(printable(name, style_.unicode), 24, style_.unicode);
}

Progress::~Progress() {
  if (visible_ && drawn_width_ > 0) std::fputc('\n', out_);
}

void Progress::finish() {
  if (!visible_) return;
  const double spent = seconds_between(start_, Clock::now());
  write_line(counts(), duration(spent));
  std::fputc('\n', out_);
  visible_ = false;
}

void Progress::draw(Clock::time_point now) {
  next_ = now + draw_bar_every;
  std::string left = "";
  const double spent = seconds_between(start_, now);
  if (step_ > 0 && spent > 0.5) {  // before that the guess is worth nothing
    left = duration(spent / static_cast<double>(step_) * static_cast<double>(total_ - step_)) + " left";
  }
  write_line(counts(), left);
}

std::string Progress::counts() const {
  std::string text = concat(step_, "/", total_, "  loss ", short_number(loss_, 4));
  if (scale_ != 1) text += "  S " + scale_text(scale_);
  return text;
}

std::string Progress::bar(int width) const {
  const double share =
      static_cast<double>(std::clamp<std::int64_t>(step_, 0, total_)) / static_cast<double>(total_);
  const int full = static_cast<int>(share * width);
  std::string done, rest;
  for (int i = 0; i < full; ++i) done += style_.unicode ? "━" : "=";
  for (int i = full; i < width; ++i) rest += style_.unicode ? "─" : ".";
  return paint(done, 3, style_) + faint(rest, style_);
}

/// Over the line before: a carriage return, the text, spaces over what is left of it. No other escape is
/// needed, so a terminal that knows none works too. Three columns stay free: a full line would wrap on some
/// terminals, and Ctrl-C writes "^C" behind it.
void Progress::write_line(const std::string& middle, const std::string& right) {
  const int width = terminal_width(fileno(out_)) - columns_free;
  std::string text = name_ + "  ";
  const std::string tail = middle + (right.empty() ? "" : "  " + right);
  const int room = width - display_width(text) - display_width(tail) - 2;
  int used = display_width(text) + display_width(tail);
  if (room >= shortest_bar) {
    const int bar_width = std::min(room, longest_bar);
    text += bar(bar_width) + "  " + tail;
    used += bar_width + 2;
  } else {
    text = shorten(text + tail, width, style_.unicode);
    used = display_width(text);
  }
  const std::string rub_out(
      static_cast<std::size_t>(std::clamp(drawn_width_ - used, 0, std::max(0, width - used))), ' ');
  text = "\r" + text + rub_out;
  std::fwrite(text.data(), 1, text.size(), out_);
  std::fflush(out_);
  drawn_width_ = used;
}

}  // namespace tinymp::report
