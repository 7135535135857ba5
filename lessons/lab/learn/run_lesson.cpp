#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/lab.h>
#include <lessons/lab/learn/predictions.h>
#include <lessons/lab/learn/words.h>
#include <tinymp/train/provenance.h>
#include <iostream>

namespace tinymp::lab {
namespace {

int start(int argc, char** argv, const Lesson& lesson, const std::function<void(Lab&)>& experiment) {
  Options options;
  if (const std::optional<int> code = read_lesson_options(lesson, options, argc, argv)) return *code;
  const std::vector<Prediction> predictions =
      options.predict ? ask_predictions(lesson) : std::vector<Prediction>{};
  Lab lab(lesson, options);
  lab.say(lesson.title);
  if (!train::pieces().empty()) std::cout << fitted(concat("Pieces: ", train::pieces())) << "\n";
  if (lab.sabotaged()) lab.say(concat("SABOTAGED: ", options.sabotage));
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
