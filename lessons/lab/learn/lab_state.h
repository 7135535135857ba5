#pragma once

#include <lessons/lab/learn/lab.h>
#include <lessons/lab/report/live_curves.h>
#include <lessons/lab/report/terminal.h>
#include <deque>
#include <optional>
#include <set>
#include <utility>

namespace tinymp::lab {

inline constexpr std::string_view cut_name = "fashion-mnist-cut", course_name = "course";

/// What a lab remembers from its first run to its report.
struct Lab::Impl {
  Lesson lesson{};
  report::TerminalStyle style;
  std::optional<data::Split> data{};
  std::optional<data::Text> text{};
  std::string data_is{}, data_name{};          ///< described, and what it is called
  std::string out, folder;                     ///< the latter is empty until something is written
  std::unique_ptr<report::LiveCurves> live{};  ///< with --live
  bool made_out = false;                       ///< `out` was not there before
  std::optional<std::uint64_t> last_seed;      ///< of the run before
  std::string last_question{};                 ///< of the run before, in a chapter
  std::set<std::string> paths;                 ///< of the logs that were asked for
  std::deque<train::Run> runs;                 ///< for the report; they never move, runs() hands out pointers
  std::vector<std::pair<std::string, std::string>> verdicts;  ///< question, sentence
  std::vector<std::string> waiting;                           ///< verdicts that were not printed yet
  struct Claim {
    bool holds;
    std::string sentence;
    Judged when;
  };
  static bool is_judged(const Claim& claim, const Options& options) {
    return !options.smoke || claim.when == Judged::in_smoke_too;
  }
  std::vector<Claim> claims;
  std::vector<std::string> printed;                       ///< line by line
  std::vector<std::pair<std::string, double>> numbers{};  ///< name, value
  report::RunsView view{};                                ///< of all sections
  std::string pieces{};                                   ///< pieces_of_all() when the report began

  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl();

  train::Run run(train::Plan plan, const std::string& path, const Options& options,
                 std::unique_ptr<nn::Model>* keep);
  void print(const std::string& line) const;  ///< as wide as the terminal is
  void print_waiting();
  bool comes_along() const;  ///< is it what comes with tinymp, about which no chapter promises anything?
  /// What every run says of a learner's pieces; empty where some are a learner's and some are not: then the
  /// names of the curves keep their marks.
  std::string pieces_of_all() const;
  /// Moves the runs into the sections of the report: a hundred runs of thousands of steps are not copied.
  std::vector<report::ReportSection> take_sections();
  void print_answers(const std::vector<std::string>& answers) const;
  void print_claims(const Options& options) const;
  bool write_page(const Options& options,
                  const std::vector<report::ReportSection>& sections);  ///< false: it could not
  std::string results(const Options& options,
                      const std::vector<report::ReportSection>& sections) const;  ///< results.h
  void make_folder();
};

}  // namespace tinymp::lab
