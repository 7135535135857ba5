#include <unistd.h>

#include <fmt/format.h>
#include <lessons/lab/classroom/attempt.h>
#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/waiting.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/terminal.h>
#include <tinymp/base/error.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

// ./learn check: compiles the learner's file in its place in the library and runs every case.
namespace tinymp::classroom {
namespace {

using Json = nlohmann::ordered_json;

/// Lists the exercises in columns. The last column, the file, appears only if it fits in every row.
int list(const Workbook& workbook, const lab::Progress& progress) {
  const std::vector<Exercise> all = exercises();
  std::vector<std::pair<std::string, std::string>> rows;  // the line without the file; the file
  bool fits = true;
  for (const Exercise& exercise : all) {
    const char* const state = has_passed(exercise, progress) ? "passed"
                              : workbook.has(exercise)       ? "begun"
                                                             : "";
    rows.emplace_back(fmt::format("  {:<3}  {:<32}  {:<6}  {:>2} min  {:<6}", exercise.number(),
                                  exercise.title, exercise.level, exercise.minutes, state),
                      exercise.own_file().filename().string());
    const auto width = static_cast<int>(rows.back().first.size() + 2 + rows.back().second.size());
    fits = fits && width <= report::terminal_width(STDOUT_FILENO);
  }
  for (const auto& [row, file] : rows) std::cout << (fits ? row + "  " + file : row) << "\n";
  std::cout << lab::fitted(
      fmt::format("\nYour files lie in {}, where check puts one to begin with.\n", shown(workbook_folder())));
  if (const Exercise* next = next_of(all, progress))
    std::cout << fmt::format("Next: ./learn check {}\n", next->number());
  return 0;
}

/// Calls attempt(); the terminal shows meanwhile that a check runs.
Attempt attempt_aloud(const Exercise& exercise, const Workbook& workbook, lab::Progress& progress,
                      Patience patience) {
  if (isatty(STDERR_FILENO) != 1) return attempt(exercise, workbook, progress, patience);
  Waiting waiting(exercise.number());
  patience.unwanted = [&waiting] {
    waiting.tick();
    return false;
  };
  return attempt(exercise, workbook, progress, patience);
}

Json as_json(const Exercise& exercise, const Verdict& verdict, const Workbook& workbook) {
  return {{"exercise", exercise.number()},    {"id", exercise.id},
          {"outcome", word(verdict.outcome)}, {"message", verdict.message},
          {"cases", verdict.cases},           {"cases_seed", verdict.seed ? Json(*verdict.seed) : Json()},
          {"seconds", verdict.seconds},       {"file", workbook.path(exercise).string()}};
}

}  // namespace

int check(int argc, const char* const* argv) {
  std::string which;
  bool json = false;
  Patience patience;
  CLI::App app("Does your file do what it should? Exit code 0: yes, 1: no, and why not.", "./learn check");
  app.add_option("N", which, "1.2: an exercise, by number or name; 1: those of a chapter (lists all)");
  app.add_option("--cases", patience.seed,
                 "The seed of the cases that are drawn, as an earlier verdict says it");
  app.add_flag("--json", json, "For programs");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;

  const Workbook workbook(workbook_folder());
  lab::Progress progress(lab::progress_path());
  if (which.empty() && json)
    throw UsageError("--json goes with an exercise, or a chapter: ./learn check 1 --json");
  if (which.empty()) return list(workbook, progress);
  Json verdicts = Json::array();
  bool all = true;
  const std::vector<Exercise> meant = exercises_named(which);
  for (const Exercise& exercise : meant) {
    const Attempt made = attempt_aloud(exercise, workbook, progress, patience);
    if (made.verdict.outcome == Verdict::Outcome::machine) throw MissingError(made.verdict.message);
    all = all && made.verdict.passed();
    verdicts.push_back(as_json(exercise, made.verdict, workbook));
    if (json) continue;
    std::cout << describe(exercise, made, workbook);
    if (!made.verdict.passed()) break;  // one at a time
  }
  if (json) std::cout << verdicts.dump(2, ' ', false, Json::error_handler_t::replace) << "\n";
  if (all && !json) {
    const std::vector<Exercise> every = exercises();
    if (const Exercise* next = next_after(meant.back(), every, progress))
      std::cout << fmt::format("Next: ./learn check {}\n", next->number());
  }
  return all ? 0 : 1;
}

int progress(int argc, const char* const* argv) {
  CLI::App app("How many exercises have passed, in a line: for ./learn.", "classroom progress");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  const lab::Progress progress(lab::progress_path());
  const std::vector<Exercise> all = exercises();
  const auto passed = std::ranges::count_if(all, [&](const Exercise& e) { return has_passed(e, progress); });
  const Exercise* const next = next_of(all, progress);
  std::cout << fmt::format("{} of {} pass{}\n", passed, all.size(),
                           next == nullptr ? "" : fmt::format("; next: ./learn check {}", next->number()));
  return 0;
}

}  // namespace tinymp::classroom
