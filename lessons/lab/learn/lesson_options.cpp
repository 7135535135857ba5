#include <lessons/lab/learn/command_line.h>
#include <tinymp/base/error.h>
#include <CLI/CLI.hpp>
#include <algorithm>

// The command lines of lessons and of quickstart. CLI11 takes seconds to compile, so that no lesson includes it.
namespace tinymp::lab {

std::optional<int> read_lesson_options(const Lesson& lesson, Options& options, int argc, char** argv) {
  CLI::App app(concat(lesson.title, "\n", lesson.question), command_of(lesson));
  add_experiment_flags(app, options);
  app.add_flag("--verify", options.verify,
               concat("The full ", lesson.data[0], ", ", lesson.seeds_of_verify,
                      " seeds: exit code 1 if a claim fails; with --smoke those that a few steps can judge"));
  if (*lesson.full != '\0') app.add_flag("--full", options.full, lesson.full);
  add_mine_flag(app);
  app.add_flag("--predict", options.predict,
               "Asks what you expect first, and holds it against what comes out");
  app.add_option("--sabotage", options.sabotage)->group("");  // not in --help
  add_training_flags(app, options, data_of(lesson));
  add_output_flags(app, options);
  app.add_option("--results", options.results, "What was measured, as JSON: the figures of the chapter")
      ->type_name("FILE");
  if (const std::optional<int> code = parse(app, argc, argv)) return code;
  const std::vector<std::string> known = sabotages_of(lesson);
  if (app.count("--sabotage") > 0 && std::ranges::find(known, options.sabotage) == known.end())
    throw UsageError(concat("--sabotage '", options.sabotage, "': ", command_of(lesson), " has ",
                            known.empty() ? "none" : lesson.sabotage));
  if (options.verify && !options.smoke && app.count("--seeds") == 0) options.seeds = lesson.seeds_of_verify;
  options.command = typed(command_of(lesson), argc, argv);
  return {};
}

std::optional<int> read_quickstart_options(const Lesson& lesson, Options& options, int argc, char** argv) {
  CLI::App app(concat(lesson.title, ".\nTrains the same models under several recipes, and compares them."),
               command_of(lesson));
  add_experiment_flags(app, options);
  options.data = "cut";
  add_training_flags(app, options, {.otherwise = "cut"});
  add_output_flags(app, options);
  if (const std::optional<int> code = parse(app, argc, argv)) return code;
  options.command = typed(command_of(lesson), argc, argv);
  return {};
}

}  // namespace tinymp::lab
