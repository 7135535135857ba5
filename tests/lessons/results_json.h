#pragma once

#include <tests/lessons/shown_number.h>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// What results.json holds, as a list of figures with the places that they stand in.
namespace tinymp::test {

using Json = nlohmann::ordered_json;

/// NaN and infinity are texts in JSON.
inline double number_of(const Json& json) {
  if (json.is_number()) return json.get<double>();
  const std::string text = json.is_string() ? json.get<std::string>() : "nan";
  const double infinite = std::numeric_limits<double>::infinity();
  return text == "inf" ? infinite : text == "-inf" ? -infinite : std::nan("");
}

inline std::vector<double> numbers_of(const Json& list) {
  std::vector<double> values;
  for (const Json& value : list) values.push_back(number_of(value));
  return values;
}

struct Figure {
  double value;
  bool may_be_percent;
  bool is_count;  ///< without point and unit in a line of the experiment: for cells of tables, not for prose
  std::string
      place;  ///< the same in every run of the same experiment: "FP32 (Do small gradients survive?): mean"
};

class Results {
 public:
  explicit Results(const Json& json) : json_(json) {
    for (const Json& question : json.at("questions")) {
      const std::string name = question.at("question");
      quote(question.at("verdict"), "verdict of '" + name + "'", false);
      for (const Json& curve : question.at("curves"))
        add_curve(curve, curve.at("name").get<std::string>() + " (" + name + ")");
    }
    std::size_t i = 0;
    for (const Json& claim : json.at("claims"))
      quote(claim.at("sentence"), fmt::format("claim {}", ++i), true);
    i = 0;
    for (const Json& line : json.at("said")) quote(line, fmt::format("line {} said", ++i), false);
    for (const auto& [name, value] : json.at("numbers").items()) {
      add(number_of(value), true, name);
      add(100 * number_of(value), true, name + ", in %");
    }
  }

  const Json& json() const { return json_; }
  const std::vector<Figure>& figures() const { return figures_; }

  const Json* question(const std::string& name) const {
    for (const Json& question : json_.at("questions")) {
      if (question.at("question") == name) return &question;
    }
    return nullptr;
  }

  static bool may_be(const Figure& figure, const Shown& shown) {
    return figure.is_count ? !shown.is_figure() : figure.may_be_percent || !shown.percent;
  }
  bool has(const Shown& shown) const {
    return std::ranges::any_of(figures_,
                               [&](const Figure& f) { return may_be(f, shown) && shown.rounds(f.value); });
  }
  const Figure* nearest(const Shown& shown) const {
    const Figure* best = nullptr;
    const auto distance = [&](const Figure& figure) {
      return std::abs(std::abs(figure.value) - shown.value());
    };
    for (const Figure& figure : figures_) {
      if (!std::isfinite(figure.value) || figure.value == 0 || !may_be(figure, shown)) continue;
      if (best == nullptr || distance(figure) < distance(*best)) best = &figure;
    }
    return best;
  }

 private:
  void add(double value, bool may_be_percent, const std::string& place) {
    figures_.push_back({value, may_be_percent, false, place});
  }
  /// `all`: its numbers without point and unit count as well; the limit of a claim, "(3 asked)", has its unit
  /// elsewhere in the sentence.
  void quote(const Json& text, const std::string& place, bool all) {
    std::size_t i = 0;
    for (const Shown& shown : numbers_in(text.get<std::string>())) {
      const bool is_count = !all && !shown.is_figure();
      figures_.push_back({shown.value(), true, is_count, fmt::format("{}, number {}", place, ++i)});
    }
  }
  void add_curve(const Json& curve, const std::string& place) {
    const bool percent = curve.at("metric").get<std::string>().find('%') != std::string::npos;
    for (const char* one : {"mean", "smallest", "largest"})
      add(number_of(curve.at(one)), percent, place + ": " + one);
    quote(curve.value("optimizer", ""), place + ": optimizer", true);
    for (const auto& [name, share] : curve.at("shares").items())
      add(100 * number_of(share), true, place + ": " + name + " (%)");
    for (const char* list : {"values", "first loss", "last loss", "last S", "skipped"}) {
      std::size_t seed = 0;
      for (const double value : numbers_of(curve.at(list)))
        add(value, percent && std::string(list) == "values",
            fmt::format("{}: {}, seed {}", place, list, seed++));
    }
  }

  const Json& json_;
  std::vector<Figure> figures_;
};

}  // namespace tinymp::test
