#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/lab.h>
#include <lessons/lab/learn/predictions.h>
#include <lessons/lab/learn/words.h>
#include <tinymp/base/error.h>
#include <tinymp/train/provenance.h>
#include <CLI/CLI.hpp>
#include <cstdio>
#include <iostream>

namespace tinymp::lab {
namespace {

int start(int argc, char** argv, const Lesson& lesson, const std::function<void(Lab&)>& experiment) {
  Options options;
  CLI::App app(concat(lesson.title, "\n", lesson.question), command_of(lesson));
  add_experiment_flags(app, options);
  app.add_flag("--verify", options.verify,
               concat("The full ", lesson.data[0], ", ", lesson.seeds_of_verify,
                      " seeds: exit code 1 if a claim fails; with --smoke those that a few steps can judge"));
  if (*lesson.full != '\0') app.add_flag("--full", options.full, lesson.full);
  add_mine_flag(app);
  bool predict = false;
  app.add_flag("--predict", predict, "Asks what you expect first, and holds it against what comes out");
  std::string sabotage;
  app.add_option("--sabotage", sabotage)->group("");  // not in --help
  add_training_flags(app, options, data_of(lesson));
  add_output_flags(app, options);
  app.add_option("--results", options.results, "What was measured, as JSON: the figures of the chapter")
      ->type_name("FILE");
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  if (app.count("--sabotage") > 0 && (sabotage.empty() || sabotage != lesson.sabotage))
    throw UsageError(concat("--sabotage '", sabotage, "': ", command_of(lesson), " has ",
                            *lesson.sabotage == '\0' ? "none" : lesson.sabotage));
  options.sabotaged = app.count("--sabotage") > 0;
  if (options.verify && !options.smoke && app.count("--seeds") == 0) options.seeds = lesson.seeds_of_verify;

  options.command = typed(command_of(lesson), argc, argv);
  const std::vector<Prediction> predictions = predict ? ask_predictions(lesson) : std::vector<Prediction>{};
  Lab lab(lesson, options);
  lab.say(lesson.title);
  if (!train::pieces().empty()) std::cout << fitted(concat("Pieces: ", train::pieces())) << "\n";
  if (lab.sabotaged()) lab.say(concat("SABOTAGED: ", lesson.sabotage));
  if (!reads_text(lesson)) {
    lab.data();
    lab.say_data();
  }
  experiment(lab);
  compare_predictions(predictions, lab);
  return lab.finish();
}

}  // namespace

int run_lesson(int argc, char** argv, const char* name, const std::function<void(Lab&)>& experiment) {
  return guarded([&] { return start(argc, argv, lesson_of(name), experiment); });
}

}  // namespace tinymp::lab
