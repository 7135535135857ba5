#include <fmt/format.h>
#include <lessons/lab/classroom/attempt.h>
#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/words.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

// ./learn hint, solution and reset.
namespace tinymp::classroom {
namespace {

/// The one exercise that `which` names. Throws UsageError when it names several.
Exercise only(const std::string& which, const char* command) {
  const std::vector<Exercise> meant = exercises_named(which);
  if (meant.size() == 1) return meant.front();
  throw UsageError(
      fmt::format("{} for which of them? ./learn {} {}", command, command, meant.front().number()));
}

}  // namespace

int hint(int argc, const char* const* argv) {
  std::string which;
  CLI::App app("A nudge; again: where to look; once more: nearly the code.", "./learn hint");
  app.add_option("N", which, "1.2: an exercise, by number or name")->required();
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  const Exercise exercise = only(which, "hint");
  lab::Progress progress(lab::progress_path());
  const auto seen = static_cast<std::size_t>(progress.count(progress_key(exercise), "hint"));
  const std::size_t i = std::min(seen, exercise.hints.size() - 1);
  std::cout << lab::fitted(fmt::format("{}, hint {} of {}\n\n{}\n", exercise.number(), i + 1,
                                       exercise.hints.size(), exercise.hints[i]));
  if (seen < exercise.hints.size()) progress.add(progress_key(exercise), "hint");
  return 0;
}

int solution(int argc, const char* const* argv) {
  std::string which;
  bool give_up = false;
  CLI::App app("How tinymp does it: the library's own text.", "./learn solution");
  app.add_option("N", which, "1.2: an exercise, by number or name")->required();
  app.add_flag("--give-up", give_up, "Before yours passes; that is written into progress.txt");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  const Exercise exercise = only(which, "solution");
  lab::Progress progress(lab::progress_path());
  const bool passed = has_passed(exercise, progress);
  if (!passed && !give_up) {
    std::cout << lab::fitted(fmt::format(
        "Yours does not pass yet: ./learn hint {0} helps; ./learn solution {0} --give-up shows it "
        "all the same.\n",
        exercise.number()));
    return 1;
  }
  if (!passed) progress.add(progress_key(exercise), "gave_up");
  std::cout << fmt::format("{}:\n\n{}", exercise.file, exercise.reference());
  return 0;
}

int reset(int argc, const char* const* argv) {
  std::string which;
  CLI::App app("Your file as it was at first; what you wrote is kept beside it.", "./learn reset");
  app.add_option("N", which, "1.2: an exercise, by number or name")->required();
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  const Exercise exercise = only(which, "reset");
  const Workbook workbook(workbook_folder());
  const std::filesystem::path kept = workbook.reset(exercise);
  std::cout << fmt::format("As at first: {}\n", shown(workbook.path(exercise)));
  if (!kept.empty()) std::cout << fmt::format("Kept:        {}\n", shown(kept));
  return 0;
}

}  // namespace tinymp::classroom
