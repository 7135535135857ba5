#include <lessons/lab/report/live_curves.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tests/report/pseudo_terminal.h>
#include <tests/report/sample_runs.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

using namespace tinymp;
using namespace tinymp::report;
using files::Environment;

namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
File stream_of(const PseudoTerminal& terminal) { return {fdopen(dup(terminal.fd()), "w"), std::fclose}; }

struct Utf8 {
  Environment all{"LC_ALL", "C.UTF-8"}, no_colour{"NO_COLOR", "1"}, term{"TERM", "xterm"};
};

/// What a terminal shows that knows "\r", "\n", ESC[nA, ESC[K and ESC[J, and nothing else.
class Screen {
 public:
  Screen(int columns, int rows) : columns_(columns), rows_(rows), cells_(1) {}
  void write(std::string_view text) {
    while (!text.empty()) {
      if (text[0] == '\x1b') {
        text = escape(text.substr(1));
        continue;
      }
      std::size_t bytes = 1;
      while (bytes < text.size() && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) ++bytes;
      put(std::string(text.substr(0, bytes)));
      text.remove_prefix(bytes);
    }
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> all;
    for (const auto& row : cells_) {
      std::string line;
      for (const std::string& cell : row) line += cell;
      line.erase(line.find_last_not_of(' ') + 1);
      all.push_back(line);
    }
    return all;
  }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines()) all += line + "\n";
    return all;
  }
  std::size_t row = 0, column = 0;
  bool is_odd = false;  ///< it met what it does not know, a full line, or a way up beyond what it can reach

 private:
  void put(const std::string& c) {
    if (c == "\r") {
      column = 0;
    } else if (c == "\n") {
      if (++row == cells_.size()) cells_.emplace_back();
    } else {
      if (static_cast<unsigned char>(c[0]) < ' ') is_odd = true;
      auto& line = cells_[row];
      if (line.size() <= column) line.resize(column + 1, " ");
      line[column++] = c;
      if (column >= static_cast<std::size_t>(columns_)) is_odd = true;
    }
  }
  std::string_view escape(std::string_view text) {
    std::size_t i = 1;
    std::size_t count = 0;
    if (text[0] != '[') is_odd = true;
    for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
      count = 10 * count + static_cast<std::size_t>(text[i] - '0');
    if (text[i] == 'A') {
      if (count >= static_cast<std::size_t>(rows_)) is_odd = true;  // that line has left the screen
      row = count > row ? 0 : row - count;
    } else if (text[i] == 'K') {
      if (cells_[row].size() > column) cells_[row].resize(column);
    } else if (text[i] == 'J') {
      if (cells_[row].size() > column) cells_[row].resize(column);
      cells_.resize(row + 1);
    } else if (text[i] != 'm') {
      is_odd = true;
    }
    return text.substr(i + 1);
  }
  int columns_, rows_;
  std::vector<std::vector<std::string>> cells_;
};

train::RunHeader header(const std::string& name, std::uint64_t seed = 0, std::int64_t steps = 400) {
  train::RunHeader made;
  made.question = "mlp on cut";
  made.name = name;
  made.seed = seed;
  made.optimizer = "sgd lr=0.1";
  made.steps = steps;
  made.batch = 64;
  return made;
}

train::LogRecord step_of(std::int64_t step, double loss, double scale = 1, std::int64_t skips = 0) {
  train::LogRecord record;
  record.step = step;
  record.loss = loss;
  record.scale = scale;
  record.skips = skips;
  return record;
}

void wait_for_drawing() { std::this_thread::sleep_for(std::chrono::milliseconds(260)); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("thinned losses are means of equally many steps, and no more than 512") {
  ThinSteps thin;
  for (std::int64_t t = 1; t <= 5000; ++t) thin.add(step_of(t, static_cast<double>(t)));
  const auto& points = thin.points();
  REQUIRE(points.size() >= 256);
  REQUIRE(points.size() < 512);
  const std::int64_t each = points[0].step;
  CHECK(each == 16);
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto last = static_cast<std::int64_t>(i + 1) * each;
    CHECK(points[i].step == last);
    CHECK(points[i].loss == static_cast<double>(last) - static_cast<double>(each - 1) / 2);
  }
  ThinSteps broken;
  for (std::int64_t t = 1; t <= 1024; ++t)
    broken.add(step_of(t, t == 10 || t > 900 ? std::numeric_limits<double>::quiet_NaN() : 1));
  CHECK(broken.points()[2].loss == 1);  // one step of the four is not finite
  CHECK(std::isnan(broken.points().back().loss));
}

TEST_CASE("a curve grows in place, within 80 x 24, and leaves the screen as it was") {
  const Utf8 locale;
  PseudoTerminal terminal(80);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  for (const bool plain : {false, true}) {
    const File out = stream_of(terminal);
    Screen screen(80, 24);
    LiveCurves live(out.get(), plain);
    live.begin(header("fp16_dynamic", 1));
    std::size_t height = 0;
    for (std::int64_t t = 1; t <= 300; ++t) {
      if (t % 100 == 0) wait_for_drawing();
      live.update(step_of(t, 2.0 / static_cast<double>(t), 1024, 2));
      const std::string written = terminal.read_back();
      if (!has(written, "steps/s")) continue;
      screen.write(written);
      INFO(screen.text());
      CHECK(t % 100 == 0);  // four times a second at most
      CHECK(screen.column == 0);
      CHECK(screen.row + 1 <= 24);
      CHECK(has(screen.text(), "Training loss"));
      CHECK(has(screen.text(), "fp16_dynamic, seed 1, now"));
      CHECK(has(screen.text(), std::to_string(t) + "/400  loss "));
      CHECK(has(screen.text(), "S 1024  2 skips"));
      CHECK(has(screen.text(), " images/s"));
      CHECK(has(screen.text(), " left"));
      CHECK(has(screen.text(), " 400\n"));  // the axis is as long as the run
      if (height > 0) CHECK(screen.lines().size() == height);
      height = screen.lines().size();
      if (plain) CHECK(std::ranges::all_of(screen.text(), [](char c) { return c >= 0; }));
    }
    CHECK(height >= 15);
    live.finish();
    screen.write(terminal.read_back());
    CHECK(screen.text() == "\n");
    CHECK_FALSE(screen.is_odd);
  }
}

TEST_CASE("runs of the same question stand beside the one that grows, a curve a group") {
  const Utf8 locale;
  PseudoTerminal terminal(80);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  const File out = stream_of(terminal);
  LiveCurves live(out.get());
  for (const std::uint64_t seed : {0u, 1u}) {
    Run recorded{.path = {}, .header = header("fp32", seed), .steps = {}, .result = {}};
    for (std::int64_t t = 1; t <= 400; ++t)
      recorded.steps.push_back(step_of(t, 1.0 + static_cast<double>(seed)));
    live.add(recorded);
  }
  train::RunHeader other = header("elsewhere");
  other.question = "another";
  live.add({.path = {}, .header = other, .steps = {step_of(1, 1)}, .result = {}});
  live.begin(header("fp16_static"));
  live.update(step_of(1, 3));
  live.finish();
  live.begin(header("fp16_static", 1));
  live.update(step_of(1, 3));
  wait_for_drawing();
  live.update(step_of(2, 2.5));
  Screen screen(80, 24);
  screen.write(terminal.read_back());
  INFO(screen.text());
  CHECK(has(screen.text(), "fp32  1.5"));
  CHECK(has(screen.text(), "fp16_static  3"));
  CHECK(has(screen.text(), "fp16_static, seed 1, now  2.5"));
  CHECK_FALSE(has(screen.text(), "elsewhere"));
  CHECK_FALSE(screen.is_odd);
}

TEST_CASE("many groups, long names and small terminals stay on the screen") {
  const Utf8 locale;
  PseudoTerminal terminal(80);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  for (const auto& [columns, rows] : {std::pair{80, 24}, {41, 12}, {40, 24}, {30, 5}}) {
    terminal.resize(columns, rows);
    const File out = stream_of(terminal);
    LiveCurves live(out.get());
    for (int i = 0; i < 30; ++i)
      live.add({.path = {},
                .header =
                    header("a \x1b[2J name that is long enough to be broken over lines " + std::to_string(i)),
                .steps = {step_of(1, 1), step_of(400, 2)},
                .result = {}});
    live.begin(header("now \x1b[1;1H"));
    Screen screen(columns, rows);
    for (std::int64_t t = 1; t <= 3; ++t) {
      wait_for_drawing();
      live.update(step_of(t, std::numeric_limits<double>::quiet_NaN()));
    }
    screen.write(terminal.read_back());
    INFO(screen.text());
    CHECK(has(screen.text(), "steps/s"));
    CHECK(screen.row + 1 <= static_cast<std::size_t>(rows));
    CHECK_FALSE(screen.is_odd);
  }
}

TEST_CASE("a file gets a line every ten seconds, and a terminal that moves no cursor, too") {
  const Environment term("TERM", "dumb");
  PseudoTerminal terminal(80);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  const File out = stream_of(terminal), file(std::tmpfile(), std::fclose);
  LiveCurves on_dumb(out.get()), in_file(file.get());
  for (LiveCurves* const live : {&on_dumb, &in_file}) live->begin(header("fp32 \x1b[2J"));
  std::string said;
  for (std::int64_t t = 1; t <= 45; ++t) {
    wait_for_drawing();
    for (LiveCurves* const live : {&on_dumb, &in_file}) live->update(step_of(t, 1, 8, 1));
    said += terminal.read_back();
    if (t == 20) CHECK(said.empty());
  }
  for (LiveCurves* const live : {&on_dumb, &in_file}) live->finish();
  CHECK(std::ranges::count(said, '\n') == 1);
  CHECK(said.starts_with("fp32 ?[2J, seed 0  "));
  CHECK(has(said, "/400  loss 1  S 8  1 skip  "));
  CHECK(has(said, " left\r\n"));
  CHECK(said.find('\x1b') == std::string::npos);
  std::string written(1000, '\0');
  std::rewind(file.get());
  written.resize(std::fread(written.data(), 1, written.size(), file.get()));
  CHECK(std::ranges::count(written, '\n') == 1);
  CHECK(has(written, " steps/s  "));
}

TEST_CASE("drawing takes less than 2 % of the time") {
  const Utf8 locale;
  PseudoTerminal terminal(80);
  if (!terminal.open()) SKIP_TEST("this machine gives no pseudo-terminal");
  const File out = stream_of(terminal);
  LiveCurves live(out.get());
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Run run{.path = {}, .header = header("fp32", seed), .steps = {}, .result = {}};
    for (std::int64_t t = 1; t <= 400; ++t) run.steps.push_back(step_of(t, 1));
    live.add(run);
  }
  live.begin(header("fp16_static"));
  // The pause after a drawing is 60 times as long: in a second and a half at most 2 % are spent in update().
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  Clock::duration drawing{};
  int drawn = 0;
  for (std::int64_t t = 1; Clock::now() - start < std::chrono::milliseconds(1500); ++t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    const Clock::time_point before = Clock::now();
    live.update(step_of(t, 1));
    const Clock::duration took = Clock::now() - before;
    if (terminal.read_back().empty()) continue;
    ++drawn;
    if (drawn > 1) drawing += took;
  }
  CHECK(drawn >= 1);
  CHECK(drawn <= 6);
  CHECK(std::chrono::duration<double>(drawing).count() < 0.02 * 1.5 + 0.05);  // a busy machine interrupts
}
