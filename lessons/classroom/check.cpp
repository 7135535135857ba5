#include <unistd.h>

#include <fmt/format.h>
#include <lessons/classroom/commands.h>
#include <lessons/classroom/files.h>
#include <lessons/classroom/verdict.h>
#include <lessons/classroom/workbook.h>
#include <lessons/learn/command_line.h>
#include <lessons/learn/progress.h>
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

// ./learn check: compiles the learner's file into the library's, and runs every case.
namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Outcome = Verdict::Outcome;

std::string key(const Exercise& exercise) { return "exercise " + exercise.number(); }

std::string shown(const fs::path& path) {
  const fs::path near = path.lexically_relative(fs::current_path());
  return near.empty() || near.begin()->string() == ".." ? path.string() : near.string();
}

const char* word(Outcome outcome) {
  switch (outcome) {
    case Outcome::passed:
      return "passed";
    case Outcome::wrong:
      return "wrong";
    case Outcome::unwritten:
      return "unwritten";
    case Outcome::no_build:
      return "does not compile";
    case Outcome::stopped:
      break;
  }
  return "stopped";
}

int list(const Workbook& workbook, const lab::Progress& progress) {
  const Exercise* next = nullptr;
  const std::vector<Exercise> all = exercises();
  for (const Exercise& exercise : all) {
    const bool passed = progress.first(key(exercise), "passed").has_value();
    if (!passed && next == nullptr) next = &exercise;
    std::cout << fmt::format("  {:<5} {:<18} {:<44} {}\n", exercise.number(), exercise.id, exercise.title,
                             passed                   ? "passed"
                             : workbook.has(exercise) ? "begun"
                                                      : "");
  }
  if (next != nullptr) std::cout << fmt::format("\nNext: ./learn check {}\n", next->number());
  return 0;
}

void explain(const Exercise& exercise, const Verdict& verdict, const Workbook& workbook) {
  if (!verdict.printed.empty() && verdict.outcome != Outcome::no_build)
    std::cout << "Your code printed:\n" << verdict.printed << "\n";
  if (verdict.passed()) {
    std::cout << fmt::format("{} {}: passed, {} cases in {:.1f} s.\n", exercise.number(), exercise.title,
                             verdict.cases, verdict.seconds);
    return;
  }
  std::cout << fmt::format("{} {}: not yet.\n\n{}\n\nYour file: {}\n", exercise.number(), exercise.title,
                           verdict.message, shown(workbook.path(exercise)));
  std::cout << fmt::format("Once more: ./learn check {0}    A hint: ./learn hint {0}\n", exercise.number());
}

}  // namespace

int check(int argc, const char* const* argv) {
  std::string which;
  bool json = false;
  CLI::App app("Does your file do what it should? Exit code 0: yes, 1: no, and why not.", "./learn check");
  app.add_option("N", which, "1.2: an exercise, by number or name; 1: those of a chapter (lists all)");
  app.add_flag("--json", json, "For programs");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;

  const Workbook workbook(workbook_folder());
  lab::Progress progress(lab::progress_path());
  if (which.empty()) return list(workbook, progress);
  const fs::path scratch = fs::temp_directory_path() / ("tinymp-check-" + std::to_string(getpid()));
  Json verdicts = Json::array();
  bool all = true;
  for (const Exercise& exercise : exercises_named(which)) {
    const bool fresh = workbook.begin(exercise);
    const Verdict verdict =
        judge(exercise, read_file(workbook.path(exercise)), workbook.path(exercise).string(), scratch);
    fs::remove_all(scratch);
    if (!fresh) progress.add(key(exercise), "attempt");
    if (verdict.passed() && !progress.first(key(exercise), "passed")) progress.add(key(exercise), "passed");
    all = all && verdict.passed();
    verdicts.push_back({{"exercise", exercise.number()},
                        {"id", exercise.id},
                        {"outcome", word(verdict.outcome)},
                        {"message", verdict.message},
                        {"cases", verdict.cases},
                        {"seconds", verdict.seconds},
                        {"file", workbook.path(exercise).string()}});
    if (json) continue;
    if (fresh) std::cout << fmt::format("A file to begin with: {}\n\n", shown(workbook.path(exercise)));
    explain(exercise, verdict, workbook);
    if (!verdict.passed()) break;  // one at a time
  }
  if (json) std::cout << verdicts.dump(2) << "\n";
  return all ? 0 : 1;
}

}  // namespace tinymp::classroom
