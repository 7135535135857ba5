#include <fmt/format.h>
#include <lessons/lab/clinic/commands.h>
#include <lessons/lab/clinic/diagnosis.h>
#include <lessons/lab/clinic/print.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/progress.h>
#include <lessons/lab/learn/words.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>

// ./learn check clinic: tells whether the named cause is right.
namespace tinymp::clinic {
namespace {

constexpr int right = 0, wrong = 1;

Cause cause_named(const std::string& id) {
  const std::vector<Cause> all = causes();
  const auto found = std::ranges::find(all, id, &Cause::id);
  if (found != all.end()) return *found;
  std::vector<std::string> names;
  for (const Cause& cause : all) names.push_back(cause.id);
  const std::string meant = lab::nearest(id, names);
  throw UsageError(concat("there is no cause '", id, "'",
                          meant.empty() ? "" : "; did you mean '" + meant + "'?",
                          " (./learn check clinic lists them)"));
}

/// Prints the next hint; the last one again when there are no more.
int hint(const Chart& chart, lab::Progress& progress, const std::string& exercise) {
  const Json& hints = chart.answer.at("hints");
  const auto seen = static_cast<std::size_t>(progress.count(exercise, "hint"));
  const std::size_t i = std::min(seen, hints.size() - 1);
  std::cout << fmt::format("Hint {} of {}\n", i + 1, hints.size());
  print_text(chart.text(hints[i]));
  if (seen < hints.size()) progress.add(exercise, "hint");
  return right;
}

int praise(const Chart& chart, const Cause& cause, lab::Progress& progress, const std::string& exercise) {
  std::cout << lab::fitted("Right: " + cause.line + ".") << "\n\n";
  print_text(chart.text(chart.answer.at("why")));
  std::cout << "\nCure\n";
  print_text(chart.text(chart.answer.at("cure_text")));
  std::cout << fmt::format("  ./learn clinic run {} --cured\n\nTaught in lessons/{}\n", chart.patient.number,
                           cause.taught.substr(cause.taught.find('/') + 1))
            << lab::fitted("Reported by others: " + chart.answer.at("reported").get<std::string>()) << "\n";
  if (!progress.first(exercise, "solved")) progress.add(exercise, "solved");
  return right;
}

int explain(const Chart& chart, const Cause& cause) {
  std::cout << fmt::format("No: it is not {}.\n\n", cause.id);
  print_text(chart.against(cause));
  std::cout << fmt::format("\nOnce more? ./learn check clinic {} --hint helps.\n", chart.patient.number);
  return wrong;
}

}  // namespace

int check(int argc, const char* const* argv) {
  std::string number, id;
  bool wants_hint = false;
  CLI::App app("Is that the cause? Exit code 0: yes, 1: no, and why not.", "./learn check clinic");
  app.add_option("N", number, "The patient (lists all of them)");
  app.add_option("CAUSE", id, "One of the list");
  app.add_flag("--hint", wants_hint, "Where to look; once more: a second hint");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  if (number.empty() && wants_hint)
    throw UsageError("a hint for which patient? ./learn check clinic 3 --hint");
  if (number.empty()) return print_ward(), right;
  if (!id.empty() && wants_hint) throw UsageError("a hint or a check: ask for one at a time");

  const Chart chart(patient(number));
  const std::string exercise = fmt::format("clinic {}", chart.patient.number);
  lab::Progress progress(lab::progress_path());
  if (wants_hint) return hint(chart, progress, exercise);
  if (id.empty()) return print_patient(chart.patient), right;
  const Cause cause = cause_named(id);
  return chart.is_right(cause.id) ? praise(chart, cause, progress, exercise) : explain(chart, cause);
}

}  // namespace tinymp::clinic
