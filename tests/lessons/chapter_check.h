#pragma once

#include <tests/lessons/readme.h>
#include <tests/lessons/results_json.h>
#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

/// Compares a chapter with the results.json beside it, which a run of its experiment wrote.
/// - In a table of curves the first cell of a row names a curve, the head of a column the metric, or a share
///   ("flushed"), "skipped" or "last S".
/// - In any other table every number has to be one of results.json, or given.
/// - Elsewhere every number with a decimal point, an exponent, a percent sign or a unit ("1.5x", "10 s", "3
/// points").
/// - Lines that were printed have to be printed still, in their order.
/// All at the digits shown. How a chapter says which is which: tests/lessons/readme.h.
namespace tinymp::test {

class ChapterCheck {
 public:
  /// `before`: the results that the chapter was written from. Then a figure is named, too, that was there at
  /// some place and is no more, and what that place holds now.
  ChapterCheck(const Readme& readme, const Results& results, const Results* before = nullptr)
      : readme_(readme), results_(results), before_(before) {}

  std::vector<Fault> faults() {
    faults_ = readme_.faults;
    for (const Readme::Block& block : readme_.blocks) block.printed ? printed(block) : drawn(block);
    for (const Readme::Table& table : readme_.tables)
      table.questions.empty() ? plain(table) : of_curves(table);
    for (const auto& [line, text] : readme_.paragraphs) prose(line, text);
    for (const Readme::Given& given : readme_.given) {
      if (used_.count(&given) == 0)
        fault(given.line, given.number.text() + " is given, and no figure of the chapter");
    }
    std::ranges::stable_sort(faults_, {}, &Fault::line);
    return faults_;
  }

 private:
  void fault(int line, const std::string& what) { faults_.push_back({line, what}); }

  // ---- numbers of prose, and of tables and blocks that are of no curves ----

  void prose(int line, const std::string& text, bool counts_too = false) {
    for (const Shown& shown : numbers_in(text)) {
      if (shown.is_figure() || counts_too) number(line + shown.line, shown);
    }
  }

  void number(int line, const Shown& shown) {
    if (is_given(shown)) return;
    const std::string now = now_instead_of(shown);
    if (!now.empty()) return fault(line, now);
    if (results_.has(shown)) return;
    const Figure* const nearest = results_.nearest(shown);
    const std::string best = nearest == nullptr
                                 ? "nothing"
                                 : fmt::format("{:.6g} at the nearest, {}", nearest->value, nearest->place);
    fault(line,
          fmt::format("{}: no figure of results.json, which has {}; nor is it given", shown.text(), best));
  }

  /// "given: 5" is any 5, "given: 5 points" only these.
  bool is_given(const Shown& shown) {
    bool found = false;
    for (const Readme::Given& given : readme_.given) {
      const Shown& number = given.number;
      if (number.digits != shown.digits) continue;
      const bool bare = !number.percent && number.unit.empty();
      if (!bare && (number.percent != shown.percent || number.unit != shown.unit)) continue;
      used_.insert(&given);
      found = true;
    }
    return found;
  }

  /// "21.9 %: now 22.4", where every place that held it before holds something else; otherwise nothing.
  std::string now_instead_of(const Shown& shown) const {
    if (before_ == nullptr) return "";
    std::string places;
    for (const Figure& old : before_->figures()) {
      if (!Results::may_be(old, shown) || !shown.rounds(old.value)) continue;
      const auto now = std::ranges::find(results_.figures(), old.place, &Figure::place);
      if (now == results_.figures().end()) continue;
      if (shown.rounds(now->value)) return "";
      places += fmt::format("{}{} ({})", places.empty() ? "" : ", or ", shown.as_shown(std::abs(now->value)),
                            old.place);
    }
    return places.empty() ? "" : fmt::format("{}: now {}", shown.text(), places);
  }

  void drawn(const Readme::Block& block) {
    for (const Row& line : block.lines) prose(line.line, line.cells[0]);
  }

  void plain(const Readme::Table& table) {
    for (const std::string& head : table.head.cells) prose(table.head.line, head);
    for (const Row& row : table.rows) {
      prose(row.line, row.cells[0]);
      for (std::size_t i = 1; i < row.cells.size(); ++i) prose(row.line, row.cells[i], true);
    }
  }

  // ---- lines of the experiment ----

  void printed(const Readme::Block& block) {
    const auto bare = [](const std::string& line) {
      return line.substr(0, line.find_last_not_of(" \r") + 1);
    };
    const Json& said = results_.json().at("said");
    std::size_t next = 0;
    for (const auto& [line, cells] : block.lines) {
      std::size_t i = next;
      while (i < said.size() && bare(said[i].get<std::string>()) != cells[0]) ++i;
      if (i < said.size())
        next = i + 1;
      else
        fault(line, "the experiment did not say (here): " + cells[0] + "\n  " + said_instead_of(cells[0]));
    }
  }

  std::string said_instead_of(const std::string& wanted) const {
    const Json& said = results_.json().at("said");
    if (before_ != nullptr) {
      const Json& old = before_->json().at("said");
      const auto at = static_cast<std::size_t>(std::find(old.begin(), old.end(), wanted) - old.begin());
      if (at < old.size() && at < said.size()) return "it says now: " + said[at].get<std::string>();
    }
    std::string best = "nothing like it";
    std::size_t most = 3;
    for (const Json& json : said) {
      const std::string line = json.get<std::string>();
      const auto same = static_cast<std::size_t>(std::ranges::mismatch(line, wanted).in1 - line.begin());
      if (same > most) best = "it said: " + line;
      most = std::max(most, same);
    }
    return best;
  }

  // ---- tables of curves ----

  struct Column {
    std::string head;
    const Json* question = nullptr;  ///< none: its cells are prose
    std::string what{};              ///< "values", "skipped", "last S", or a share
  };

  void of_curves(const Readme::Table& table) {
    std::vector<const Json*> asked;
    for (const std::string& name : table.questions) {
      asked.push_back(results_.question(name));
      if (asked.back() == nullptr)
        return fault(table.head.line, "results.json has no question '" + name + "'");
    }
    const std::vector<Column> columns = columns_of(asked, table.head);
    for (const Row& row : table.rows) {
      std::string unknown;
      for (std::size_t i = 1; i < columns.size(); ++i) {
        const Json* const question = columns[i].question;
        if (question == nullptr) {
          prose(row.line, row.cells[i], true);
        } else if (!row.cells[i].empty()) {
          const auto& curves = question->at("curves");
          const auto curve = std::find_if(curves.begin(), curves.end(),
                                          [&](const Json& c) { return c.at("name") == row.cells[0]; });
          if (curve != curves.end())
            cell(row.line, *curve, columns[i], row.cells[i]);
          else
            unknown = no_curve(row.cells[0], *question);
        }
      }
      if (!unknown.empty()) fault(row.line, unknown);  // once a row
    }
  }

  static std::string no_curve(const std::string& name, const Json& question) {
    std::string names;
    for (const Json& curve : question.at("curves"))
      names += (names.empty() ? "" : ", ") + curve.at("name").get<std::string>();
    return fmt::format("'{}' is no curve of '{}'; these are: {}", name,
                       question.at("question").get<std::string>(), names);
  }

  /// What the heads of a table ask for.
  std::vector<Column> columns_of(const std::vector<const Json*>& asked, const Row& heads) {
    static const std::set<std::string> shares{"zero",        "subnormal", "flushed",
                                              "underflowed", "absorbed",  "lost"};
    std::vector<Column> columns;
    std::size_t metrics = 0;
    for (const std::string& head : heads.cells) {
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
      fault(heads.line, fmt::format("no column of this table is '{}', the metric of '{}'",
                                    asked[metrics]->at("curves").at(0).at("metric").get<std::string>(),
                                    asked[metrics]->at("question").get<std::string>()));
    }
    return columns;
  }

  /// "94.8", "94.8 (94.7 .. 95.0)", "NaN at step 5 to 10", "62 %", "-"
  void cell(int line, const Json& curve, const Column& column, const std::string& text) {
    const bool listed = column.what == "values" || column.what == "skipped" || column.what == "last S";
    std::vector<double> values;
    if (listed)
      values = numbers_of(curve.at(column.what));
    else if (curve.at("shares").contains(column.what))
      values = {100 * number_of(curve.at("shares").at(column.what))};
    const bool nan = std::ranges::any_of(values, [](double v) { return std::isnan(v); });
    const auto says = [&](const std::string& right) {
      fault(line, fmt::format("{}, {}: the chapter says '{}', results.json {}",
                              curve.at("name").get<std::string>(), column.head, text, right));
    };
    if (text == "-") return values.empty() ? void() : says(fmt::format("{:.6g}", values.front()));
    if (values.empty()) return says("nothing");
    const std::vector<Shown> shown = numbers_in(text);
    if (text.starts_with("NaN") || nan) {
      if (!text.starts_with("NaN") || !nan) return says(nan ? "NaN" : fmt::format("{:.6g}", values.front()));
      values = numbers_of(curve.at("first step with NaN"));
      const bool every = std::erase(values, 0) == 0;  // a seed without one
      if (!every && text.find("every") != std::string::npos) return says("NaN on some seeds only");
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

  const Readme& readme_;
  const Results& results_;
  const Results* before_;
  std::set<const Readme::Given*> used_;
  std::vector<Fault> faults_;
};

}  // namespace tinymp::test
