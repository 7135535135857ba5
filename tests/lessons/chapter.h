#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

/// Compares the figures of a chapter with results.json, which a run of its experiment wrote. In the chapter
///   <!-- results: QUESTION -->   stands before a table of curves: the first cell of a row names a curve, the
///   head of a
///                                column the metric, or a share ("flushed"), "skipped" or "last S". Several
///                                questions, separated by " | ", belong to the columns with a metric, in
///                                order.
///   <!-- printed -->             stands before a block of lines that the experiment said, in that order.
///   <!-- given: 0.1 2.3 -->      lists numbers that no run gives: theory, the set-up, the paper.
/// Every other number with a decimal point or a percent sign has to be one of results.json, at the digits
/// shown. Code, links, section numbers and "Where this comes from" are left out.
namespace tinymp::test {

using Json = nlohmann::ordered_json;

struct Fault {
  int line;
  std::string what;
};

/// A number as a text has it.
struct Shown {
  std::string digits;  ///< without commas: "1024.5", "2.5e-06"
  bool percent = false;
  double value() const { return std::strtod(digits.c_str(), nullptr); }
  bool has_point() const { return digits.find('.') != std::string::npos; }
  bool has_exponent() const { return digits.find('e') != std::string::npos; }
  int decimals() const {
    const std::size_t point = digits.find('.');
    if (point == std::string::npos) return 0;
    return static_cast<int>(std::min(digits.find('e'), digits.size()) - point - 1);
  }
  /// What it would have to be for `real`: the same number of digits.
  std::string as_shown(double real) const {
    if (std::isnan(real)) return "NaN";
    return has_exponent() ? fmt::format("{:.{}e}", real, decimals())
                          : fmt::format("{:.{}f}", real, decimals());
  }
  bool rounds(double real) const { return std::strtod(as_shown(std::abs(real)).c_str(), nullptr) == value(); }
};

/// All numbers of a text, but neither parts of words (fp16, 0x2e66) nor of versions (12.2.0), nor sections.
inline std::vector<Shown> numbers_in(const std::string& text) {
  static const std::regex number(R"([0-9]+(,[0-9]{3})*(\.[0-9]+)?(e[-+]?[0-9]+)?)");
  static const std::regex word_before("(sections?|chapters?|arXiv|version) $", std::regex::icase);
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '^';
  };
  std::vector<Shown> found;
  for (auto match = text.cbegin(); match != text.cend();) {
    std::smatch m;
    if (!std::regex_search(match, text.cend(), m, number)) break;
    const auto begin = m[0].first, end = m[0].second;
    match = end;
    const bool version =
        (begin - text.cbegin() >= 2 && begin[-1] == '.' && begin[-2] != '.') ||
        (text.cend() - end >= 2 && end[0] == '.' && std::isdigit(static_cast<unsigned char>(end[1])) != 0);
    const bool part = (begin != text.cbegin() && is_part(begin[-1])) || (end != text.cend() && is_part(*end));
    if (version || part || std::regex_search(std::string(text.cbegin(), begin), word_before)) continue;
    Shown shown{m.str()};
    std::erase(shown.digits, ',');
    auto after = end;
    if (after != text.cend() && *after == ' ') ++after;
    shown.percent = after != text.cend() && *after == '%';
    found.push_back(std::move(shown));
  }
  return found;
}

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

inline std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

inline std::string without_marks(std::string text) {  // bold, code
  std::erase(text, '*');
  std::erase(text, '`');
  return trimmed(text);
}

/// What a chapter may quote.
class Figures {
 public:
  explicit Figures(const Json& results) {
    for (const Json& question : results.at("questions")) {
      quote(question.at("verdict"));
      for (const Json& curve : question.at("curves")) add_curve(curve);
    }
    for (const Json& claim : results.at("claims")) quote(claim.at("sentence"));
    for (const Json& line : results.at("said")) quote(line);
    for (const auto& [name, value] : results.at("numbers").items()) {
      add(number_of(value), true);
      add(100 * number_of(value), true);
    }
  }
  bool has(const Shown& shown) const {
    return std::ranges::any_of(figures_, [&](const Figure& figure) {
      return (figure.may_be_percent || !shown.percent) && shown.rounds(figure.value);
    });
  }
  double nearest(const Shown& shown) const {
    double best = std::nan("");
    for (const Figure& figure : figures_) {
      const double value = std::abs(figure.value);
      if (!std::isfinite(value) || (shown.percent && !figure.may_be_percent)) continue;
      if (!(std::abs(best - shown.value()) <= std::abs(value - shown.value()))) best = value;  // NaN is far
    }
    return best;
  }

 private:
  struct Figure {
    double value;
    bool may_be_percent;
  };
  void add(double value, bool may_be_percent) { figures_.push_back({value, may_be_percent}); }
  void quote(const Json& text) {
    for (const Shown& shown : numbers_in(text.get<std::string>())) {
      if (shown.has_point() || shown.percent) add(shown.value(), true);
    }
  }
  void add_curve(const Json& curve) {
    const bool percent = curve.at("metric").get<std::string>().find('%') != std::string::npos;
    for (const char* one : {"mean", "smallest", "largest"}) add(number_of(curve.at(one)), percent);
    for (const double value : numbers_of(curve.at("values"))) add(value, percent);
    for (const auto& [name, share] : curve.at("shares").items()) add(100 * number_of(share), true);
    for (const char* list : {"first loss", "last loss", "last S"}) {
      for (const double value : numbers_of(curve.at(list))) add(value, false);
    }
  }
  std::vector<Figure> figures_;
};

/// One chapter, line by line.
class Chapter {
 public:
  Chapter(const std::string& text, const Json& results) : results_(results), figures_(results) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines_.push_back(line);
    static const std::regex given("<!-- given:([^>]*)-->");
    for (std::sregex_iterator list(text.begin(), text.end(), given), end; list != end; ++list) {
      for (const Shown& shown : numbers_in((*list)[1].str())) given_.insert(shown.digits);
    }
  }

  std::vector<Fault> faults() {
    for (at_ = 0; at_ < lines_.size(); ++at_) {
      const std::string line = trimmed(lines_[at_]);
      if (line.starts_with("## Where this comes from")) break;
      if (line.starts_with("```")) {
        block(false);
      } else if (line == "<!-- printed -->") {
        if (next() && trimmed(lines_[at_]).starts_with("```"))
          block(true);
        else
          fault("<!-- printed --> stands before a block");
      } else if (line.starts_with("<!-- results:") && line.ends_with("-->")) {
        questions(trimmed(line.substr(13, line.size() - 16)));
      } else if (line.starts_with("<!--")) {
        while (lines_[at_].find("-->") == std::string::npos && at_ + 1 < lines_.size()) ++at_;
      } else {
        prose(line);
      }
    }
    return faults_;
  }

 private:
  void fault(const std::string& what) { faults_.push_back({static_cast<int>(at_) + 1, what}); }

  bool next() {  // the next line that is not empty
    while (++at_ < lines_.size() && trimmed(lines_[at_]).empty()) {
    }
    if (at_ == lines_.size()) --at_;
    return !trimmed(lines_[at_]).empty();
  }

  void block(bool printed) {
    const std::size_t indent = lines_[at_].find('`');
    std::size_t said = 0;
    const auto bare = [](const std::string& line) {
      return line.substr(0, line.find_last_not_of(" \r") + 1);
    };
    for (++at_; at_ < lines_.size() && !trimmed(lines_[at_]).starts_with("```"); ++at_) {
      const std::string line = bare(lines_[at_]);
      if (!printed || line.empty()) continue;
      const std::string wanted = line.substr(std::min(indent, line.find_first_not_of(' ')));
      std::size_t i = said;
      const Json& all = results_.at("said");
      while (i < all.size() && bare(all[i].get<std::string>()) != wanted) ++i;
      if (i < all.size())
        said = i + 1;
      else
        fault("the experiment did not say (here): " + wanted + "\n  " + nearest_said(wanted));
    }
  }

  std::string nearest_said(const std::string& wanted) const {
    std::string best = "nothing like it";
    std::size_t most = 3;
    for (const Json& json : results_.at("said")) {
      const std::string line = json.get<std::string>();
      const auto same = static_cast<std::size_t>(std::ranges::mismatch(line, wanted).in1 - line.begin());
      if (same > most) best = "it said: " + line;
      most = std::max(most, same);
    }
    return best;
  }

  void prose(std::string line) {
    line = std::regex_replace(line, std::regex("`[^`]*`"), "`code`");
    line = std::regex_replace(line, std::regex(R"(\]\([^)]*\))"), "]");
    for (const Shown& shown : numbers_in(line)) {
      const bool is_figure = shown.has_point() || shown.percent;
      if (!is_figure || given_.count(shown.digits) > 0 || figures_.has(shown)) continue;
      fault(fmt::format("{}{}: no figure of results.json (the nearest is {:.6g}), nor given", shown.digits,
                        shown.percent ? " %" : "", figures_.nearest(shown)));
    }
  }

  static std::vector<std::string> cells_of(const std::string& row) {
    std::vector<std::string> cells;
    std::istringstream in(trimmed(row).substr(1));
    for (std::string cell; std::getline(in, cell, '|');) cells.push_back(without_marks(cell));
    return cells;
  }

  const Json* question(const std::string& name) const {
    for (const Json& question : results_.at("questions")) {
      if (question.at("question") == name) return &question;
    }
    return nullptr;
  }

  void questions(const std::string& names) {
    std::vector<const Json*> asked;
    std::string rest = names;
    for (std::size_t bar = 0; bar != std::string::npos;) {
      bar = rest.find(" | ");
      const std::string name = trimmed(rest.substr(0, bar));
      asked.push_back(question(name));
      if (asked.back() == nullptr) return fault("results.json has no question '" + name + "'");
      if (bar != std::string::npos) rest = rest.substr(bar + 3);
    }
    if (!next() || !trimmed(lines_[at_]).starts_with('|'))
      return fault("<!-- results: --> stands before a table");
    table(asked);
  }

  struct Column {
    std::string head;
    const Json* question = nullptr;  ///< none: its cells are prose
    std::string what{};              ///< "values", "skipped", "last S", or a share
  };

  /// What the heads of a table ask for.
  std::vector<Column> columns_of(const std::vector<const Json*>& asked,
                                 const std::vector<std::string>& heads) {
    static const std::set<std::string> shares{"zero",        "subnormal", "flushed",
                                              "underflowed", "absorbed",  "lost"};
    std::vector<Column> columns;
    std::size_t metrics = 0;
    for (const std::string& head : heads) {
      Column column{head};
      const Json* const current = asked[std::min(metrics > 0 ? metrics - 1 : 0, asked.size() - 1)];
      std::istringstream words(head);
      for (std::string word; words >> word && column.what.empty();) {
        if (shares.count(word) > 0) column.what = word;
      }
      if (head == "skipped" || head == "last S") column.what = head;
      if (!column.what.empty()) {
        column.question = current;
      } else if (metrics < asked.size()) {
        std::string metric = asked[metrics]->at("curves").at(0).at("metric");
        if (metric.starts_with("test ")) metric = metric.substr(5);
        if (head.ends_with(metric)) {
          column.question = asked[metrics++];
          column.what = "values";
        }
      }
      columns.push_back(std::move(column));
    }
    if (metrics < asked.size()) {
      fault(fmt::format("no column of this table is '{}', the metric of '{}'",
                        asked[metrics]->at("curves").at(0).at("metric").get<std::string>(),
                        asked[metrics]->at("question").get<std::string>()));
    }
    return columns;
  }

  void table(const std::vector<const Json*>& asked) {
    const std::vector<Column> columns = columns_of(asked, cells_of(lines_[at_]));
    for (at_ += 2; at_ < lines_.size() && trimmed(lines_[at_]).starts_with('|'); ++at_) {
      const std::vector<std::string> cells = cells_of(lines_[at_]);
      for (std::size_t i = 1; i < std::min(cells.size(), columns.size()); ++i) {
        if (columns[i].question == nullptr)
          prose(cells[i]);
        else if (!cells[i].empty())
          cell(cells[0], columns[i], cells[i]);
      }
    }
    --at_;
  }

  void cell(const std::string& name, const Column& column, const std::string& text) {
    std::string names;
    for (const Json& curve : column.question->at("curves")) {
      if (curve.at("name") == name) return figures_of(curve, column, text);
      names += (names.empty() ? "" : ", ") + curve.at("name").get<std::string>();
    }
    const std::string what = fmt::format("'{}' is no curve of '{}'; these are: {}", name,
                                         column.question->at("question").get<std::string>(), names);
    if (faults_.empty() || faults_.back().what != what) fault(what);  // once a row
  }

  /// "94.8", "94.8 (94.7 .. 95.0)", "NaN at step 5 to 10", "62 %", "-"
  void figures_of(const Json& curve, const Column& column, const std::string& text) {
    const bool listed = column.what == "values" || column.what == "skipped" || column.what == "last S";
    std::vector<double> values;
    if (listed)
      values = numbers_of(curve.at(column.what));
    else if (curve.at("shares").contains(column.what))
      values = {100 * number_of(curve.at("shares").at(column.what))};
    const bool nan = std::ranges::any_of(values, [](double v) { return std::isnan(v); });
    const auto says = [&](const std::string& right) {
      fault(fmt::format("{}, {}: the chapter says '{}', results.json {}", curve.at("name").get<std::string>(),
                        column.head, text, right));
    };
    if (text == "-") return values.empty() ? void() : says(fmt::format("{:.6g}", values.front()));
    if (values.empty()) return says("nothing");
    std::vector<Shown> shown = numbers_in(text);
    if (text.starts_with("NaN") || nan) {
      if (!text.starts_with("NaN") || !nan) return says(nan ? "NaN" : fmt::format("{:.6g}", values.front()));
      values = numbers_of(curve.at("first step with NaN"));
      std::erase(values, 0);  // a seed without one
      if (shown.empty()) return;
      if (values.empty()) return says("nothing");
    }
    const auto [low, high] = std::ranges::minmax(values);
    double sum = 0;
    for (const double value : values) sum += value;
    std::vector<double> right{sum / static_cast<double>(values.size()), low, high};
    if (shown.size() == 2) right = {low, high};
    if (text.starts_with("<") && !shown.empty())
      return right[0] < shown.at(0).value() ? void() : says(fmt::format("{:.6g}", right[0]));
    bool same = !shown.empty() && shown.size() <= right.size();
    std::string all;
    for (std::size_t i = 0; i < shown.size() && i < right.size(); ++i) {
      same = same && shown[i].rounds(right[i]);
      all += (i == 0 ? "" : i == 1 && shown.size() == 3 ? " (" : " .. ") + shown[i].as_shown(right[i]);
    }
    if (!same) says(shown.size() == 3 ? all + ")" : all.empty() ? fmt::format("{:.6g}", right[0]) : all);
  }

  const Json& results_;
  Figures figures_;
  std::set<std::string> given_;
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
  std::vector<Fault> faults_;
};

}  // namespace tinymp::test
