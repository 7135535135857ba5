#pragma once

#include <lessons/lab/learn/lab.h>
#include <optional>
#include <string>
#include <vector>

/// ./learn run N --predict: asked before anything is shown, held against the result at the end.
namespace tinymp::lab {

/// One of lessons/NN_name/predictions.json.
struct Prediction {
  std::string ask{};                  ///< "Where does FP16 end?"
  std::string question, curve{};      ///< what it is about, as Lab::results() has them
  std::optional<double> predicted{};  ///< NaN is an answer; empty: none was given
};

/// Asks on the terminal, an answer a line: a number, "nan", or nothing. Throws UsageError when the lesson has
/// none to ask, Error when the file is damaged.
std::vector<Prediction> ask_predictions(const Lesson& lesson);

/// Puts each beside what came out, under its question.
void compare_predictions(const std::vector<Prediction>& predictions, Lab& lab);

}  // namespace tinymp::lab
