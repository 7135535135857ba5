#include <lessons/lab/learn/predictions.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>

namespace tinymp::lab {
namespace {

std::vector<Prediction> read(const Lesson& lesson) {
  const std::string path = concat(TINYMP_SOURCE_DIR, "/lessons/", lesson.name, "/predictions.json");
  std::ifstream file(path);
  if (!file) throw UsageError(concat("--predict: lesson ", lesson.name, " asks nothing"));
  std::vector<Prediction> predictions;
  try {
    for (const nlohmann::json& one : nlohmann::json::parse(file))
      predictions.push_back({one.at("ask"), one.at("question"), one.at("curve")});
  } catch (const nlohmann::json::exception& error) {
    throw Error(concat(path, ": ", error.what(), "; git checkout brings it back"));
  }
  return predictions;
}

std::optional<double> number_in(const std::string& line) {
  if (line == "nan" || line == "NaN" || line == "NAN") return std::numeric_limits<double>::quiet_NaN();
  std::size_t end = 0;
  try {
    const double number = std::stod(line, &end);
    if (std::isfinite(number) && line.find_first_not_of(" \t%", end) == std::string::npos) return number;
  } catch (const std::exception&) {
  }
  return {};
}

/// False at the end of the input.
bool ask(Prediction& prediction) {
  std::cout << fitted(prediction.ask) << "\n> " << std::flush;
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) return true;
    prediction.predicted = number_in(line);
    if (prediction.predicted) return true;
    std::cout << "A number, or nan, or nothing.\n> " << std::flush;
  }
  std::cout << "\n";
  return false;
}

std::string shown(double value) { return std::isnan(value) ? "NaN" : report::short_number(value, 4); }

}  // namespace

std::vector<Prediction> ask_predictions(const Lesson& lesson) {
  std::vector<Prediction> predictions = read(lesson);
  std::cout << fitted("Predict first: a number, or nan; Enter alone leaves one out.\n\n");
  for (Prediction& prediction : predictions)
    if (!ask(prediction)) break;
  std::cout << "\n";
  return predictions;
}

void compare_predictions(const std::vector<Prediction>& predictions, Lab& lab) {
  for (const Prediction& prediction : predictions) {
    const std::vector<double> results = lab.results(prediction.question, prediction.curve);
    if (results.empty()) continue;
    const std::string measured = shown(mean(results));
    lab.remark(prediction.question,
               prediction.predicted ? concat("You predicted ", shown(*prediction.predicted), " for ",
                                             prediction.curve, "; it is ", measured, ".")
                                    : concat("You left out ", prediction.curve, "; it is ", measured, "."));
  }
}

}  // namespace tinymp::lab
