#include <tests/catch.h>
#include <tests/lessons/text_of.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

// What --predict asks, against the results of the same lesson: the figures that a question gives are those of
// the run.
namespace tinymp::test {
namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

const Json* curve_of(const Json& results, const std::string& question, const std::string& name) {
  for (const Json& asked : results.at("questions")) {
    if (asked.at("question") != question) continue;
    for (const Json& curve : asked.at("curves"))
      if (curve.at("name") == name) return &curve;
  }
  return nullptr;
}

/// The number in the first group of `pattern`; NaN where the text has none.
double number_in(const std::string& text, const char* pattern) {
  std::smatch found;
  return std::regex_search(text, found, std::regex(pattern)) ? std::stod(found[1]) : std::nan("");
}

void check(const Json& prediction, const Json& results) {
  const std::string ask = prediction.at("ask"), question = prediction.at("question");
  INFO(ask);
  const Json* const curve = curve_of(results, question, prediction.at("curve"));
  REQUIRE(curve != nullptr);
  if (const double steps = number_in(ask, " ([0-9]+) steps"); !std::isnan(steps))
    CHECK(steps == curve->at("steps"));
  if (const double batch = number_in(ask, " ([0-9]+) images a step"); !std::isnan(batch))
    CHECK(batch == curve->at("batch"));
  if (const double near = number_in(ask, "FP32 ends (?:near|at a perplexity near) ([0-9.]+)");
      !std::isnan(near)) {
    const Json* const fp32 = curve_of(results, question, "FP32");
    REQUIRE(fp32 != nullptr);
    const double mean = fp32->at("mean");
    CHECK(std::abs(near - mean) <= 0.06 * std::abs(mean));
  }
}

}  // namespace

TEST_CASE("predictions: what a question says of a run is what the run is") {
  int asked = 0;
  for (const fs::directory_entry& lesson : fs::directory_iterator(TINYMP_SOURCE_DIR "/lessons")) {
    const fs::path predictions = lesson.path() / "predictions.json";
    if (!fs::exists(predictions)) continue;
    INFO(predictions.string());
    const Json results = Json::parse(text_of(lesson.path() / "results.json"));
    for (const Json& prediction : Json::parse(text_of(predictions))) {
      check(prediction, results);
      ++asked;
    }
  }
  CHECK(asked >= 31);
}

}  // namespace tinymp::test
