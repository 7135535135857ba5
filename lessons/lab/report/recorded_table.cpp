#include <lessons/lab/report/number.h>
#include <lessons/lab/report/recorded_table.h>
#include <lessons/lab/report/run_fields.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>

namespace tinymp::report {
namespace {

/// The digits from `begin` on as a number; -1 when they are not all digits.
int digits(const std::string& text, std::size_t begin, std::size_t count) {
  int value = 0;
  const char* const end = text.data() + begin + count;
  const auto [stop, error] = std::from_chars(text.data() + begin, end, value);
  return error == std::errc() && stop == end && value >= 0 ? value : -1;
}

/// Days since 1970-01-01 in the Gregorian calendar: whole years, leap days, months from March on.
std::int64_t days_since_1970(int year, int month, int day) {
  const std::int64_t y = month > 2 ? year : year - 1;
  const std::int64_t from_march = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return 365 * y + y / 4 - y / 100 + y / 400 + from_march - 719'468;
}

std::string result_cell(const Run& run) {
  if (!run.result) return "-";
  const double value = run.result->value;
  return metric_text(value) + (run.header.metric.ends_with(" (%)") ? " %" : "");
}

/// "mnist (55000 train, ...)" -> "mnist"; a long word is cut.
std::string first_word(const std::string& text, bool unicode) {
  return shorten(text.substr(0, text.find(' ')), 7, unicode);
}

std::filesystem::path folder_of(const Run& run) { return std::filesystem::path(run.path).parent_path(); }

/// What ./learn compare finds below `folder`: the log without its ending, or its folder where that holds no other.
std::string name_below(const std::string& folder, const Run& run,
                       const std::map<std::filesystem::path, int>& runs_in) {
  const std::filesystem::path own = folder_of(run);
  std::filesystem::path name = std::filesystem::path(run.path).lexically_relative(folder).replace_extension();
  if (runs_in.at(own) == 1 && name.has_parent_path()) name = name.parent_path();
  return name.string();
}

}  // namespace

std::string state_of(const Run& run) {
  if (!run.result && train::is_being_written(run.path)) return "running";
  const bool lost = !run.steps.empty() && !std::isfinite(run.steps.back().loss);
  if (lost || (run.result && !std::isfinite(run.result->value))) return "diverged";
  return run.result ? "finished" : "interrupted";
}

std::int64_t seconds_of(const std::string& utc) {
  if (utc.size() != 20 || utc[4] != '-' || utc[7] != '-' || utc[10] != 'T' || utc[13] != ':' ||
      utc[16] != ':' || utc[19] != 'Z')
    return -1;
  const int year = digits(utc, 0, 4), month = digits(utc, 5, 2), day = digits(utc, 8, 2);
  const int hour = digits(utc, 11, 2), minute = digits(utc, 14, 2), second = digits(utc, 17, 2);
  if (year < 1970 || month < 1 || month > 12 || day < 1 || day > 31) return -1;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return -1;
  return ((days_since_1970(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
}

std::string age_text(std::int64_t then, std::int64_t now) {
  if (then < 0 || now < 0) return "";
  const std::int64_t seconds = std::max<std::int64_t>(0, now - then);
  if (seconds < 60) return concat(seconds, " s");
  if (seconds < 60 * 60) return concat(seconds / 60, " min");
  if (seconds < 48 * 60 * 60) return concat(seconds / 3600, " h");
  const std::int64_t days = seconds / 86'400;
  return days < 730 ? concat(days, " d") : concat(days / 365, " y");
}

Table recorded_table(std::vector<Run> runs, const RecordedView& view) {
  // Runs of the same second: the higher number of a folder is the newer.
  std::ranges::sort(runs, [](const Run& a, const Run& b) {
    return std::tie(a.header.date, a.path) > std::tie(b.header.date, b.path);
  });
  constexpr Align left = Align::left, right = Align::right;
  Table table{{"name", "recipe"}, {left, left}, {}};
  const auto add = [&](const char* name, Align align) {
    table.header.emplace_back(name);
    table.align.push_back(align);
  };
  if (view.columns == RunColumns::weights) {
    add("weights", left);
  } else {
    add("model", left);
    add("data", left);
  }
  add("seed", right);
  add("result", right);
  add("state", left);
  add("age", right);
  std::map<std::filesystem::path, int> runs_in;
  for (const Run& run : runs) ++runs_in[folder_of(run)];
  for (const Run& run : runs) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {name_below(view.folder, run, runs_in), shorten(run_field(run, "recipe"), 12, view.unicode)};
    if (view.columns == RunColumns::weights) {
      row.push_back(
          run.result && !run.result->weights.empty() ? shorten(run.result->weights, 16, view.unicode) : "-");
    } else {
      row.push_back(first_word(run.header.model, view.unicode));
      row.push_back(first_word(run.header.data, view.unicode));
    }
    row.insert(row.end(), {run_field(run, "seed"), result_cell(run), state_of(run),
                           age_text(seconds_of(run.header.date), view.now)});
  }
  return table;
}

}  // namespace tinymp::report
