#include <fmt/format.h>
#include <lessons/lab/clinic/print.h>
#include <lessons/lab/report/number.h>
#include <algorithm>
#include <cmath>
#include <set>

// Chooses the lines of a log that a doctor would ask for.
namespace tinymp::clinic {
namespace {

constexpr std::size_t shown_lines = 10;

/// The first and the last line, and the lines around the first skip and the first NaN. The rest of the room
/// goes to lines in the middle of the widest gaps.
std::set<std::size_t> chosen(const std::vector<train::LogRecord>& steps) {
  std::set<std::size_t> lines{0, steps.size() - 1};
  const auto both_sides = [&](auto happened) {
    const auto at = static_cast<std::size_t>(std::ranges::find_if(steps, happened) - steps.begin());
    if (at == steps.size()) return;
    lines.insert({at == 0 ? 0 : at - 1, at, std::min(at + 1, steps.size() - 1)});
  };
  both_sides([](const train::LogRecord& step) { return step.skips > 0; });
  both_sides([](const train::LogRecord& step) { return !std::isfinite(step.loss); });
  while (lines.size() < std::min(shown_lines, steps.size())) {
    std::size_t before = 0, widest = 0, last = 0;
    for (const std::size_t line : lines) {
      if (line - last > widest) before = last, widest = line - last;
      last = line;
    }
    lines.insert(before + widest / 2);
  }
  return lines;
}

std::string share(double value) { return std::isnan(value) ? "" : report::percent(value); }

}  // namespace

std::vector<std::string> excerpt(const train::Run& run) {
  expect(!run.steps.empty(), run.path, " has no step");
  std::vector<std::string> lines{"  step      loss         S   skipped so far   flushed      lost"};
  for (const std::size_t i : chosen(run.steps)) {
    const train::LogRecord& step = run.steps[i];
    std::string line = fmt::format("{:6}  {:>8}  {:>8}   {:14}   {:>7}   {:>7}", step.step,
                                   report::fixed_digits(step.loss), report::scale_text(step.scale),
                                   step.skips, share(step.flushed), share(step.underflowed + step.absorbed));
    line.erase(line.find_last_not_of(' ') + 1);
    lines.push_back(std::move(line));
  }
  const train::RunResult result = run.result.value_or(train::RunResult{});
  lines.push_back(fmt::format("  steps taken: {}, skipped: {}; {}: {}", result.taken, result.skipped,
                              run.header.metric, report::short_number(result.value)));
  return lines;
}

}  // namespace tinymp::clinic
