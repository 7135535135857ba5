#pragma once

#include <lessons/lab/classroom/submission.h>
#include <lessons/lab/classroom/verdict.h>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

/// The grades of a submission, and everything else that a teacher may want to know of it.
namespace tinymp::classroom {

struct ExerciseGrade {
  std::string number{}, id{}, title{};
  /// A verdict's word; or "missing", "too long", "unreadable", "refused" (why_refused) or "unwritten" (the
  /// text is the stub).
  std::string outcome = "missing";
  std::string message{};
  int attempts = 0, hints = 0;  ///< from progress.txt, which the student can edit
  bool gave_up = false;
  std::string sha256{};  ///< of the file
  double likeness = 0;   ///< likeness to the reference
  std::vector<std::string> notable{};
  double seconds = 0;
  std::optional<std::uint64_t> cases{};  ///< seed of the drawn cases: check --cases
  std::string text{};                    ///< for the likeness of pairs; not written into the grades

  bool passed() const { return outcome == "passed"; }
  bool handed_in() const { return outcome != "missing" && outcome != "unwritten"; }
  bool failed() const { return handed_in() && !passed(); }
};

struct QuestionGrade {
  int chapter = 0;
  std::string answer{};  ///< as in answers.txt; empty: no answer
  bool right = false;
};

struct Grades {
  std::string student{}, date{}, sandbox{};  ///< the student as plain_name() writes it
  std::vector<ExerciseGrade> exercises{};
  std::vector<QuestionGrade> questions{};
  std::filesystem::path folder{};     ///< holds the judged files
  std::optional<int> minutes_late{};  ///< empty when no due time is set

  int score() const;
  int most() const;
};

inline constexpr int points_of_an_exercise = 10, points_of_a_question = 5;

using Judging = std::function<Verdict(const Exercise&, const std::string& text, const std::string& path,
                                      const std::filesystem::path& scratch, const Patience&, Fence)>;

struct Grading {
  std::vector<Exercise> exercises{};
  std::vector<int> questions{1, 2, 3, 4, 5, 6, 7, 8, 9};  ///< the chapters whose questions count
  Fence fence = Fence::limits;
  std::filesystem::path scratch{};
  Patience patience{};
  double seconds = 1200;  ///< for all exercises of one student, wall clock
  std::optional<std::filesystem::file_time_type> due{};
  Judging judge = classroom::judge;  ///< tests replace it
  /// Called after each exercise.
  std::function<void(const ExerciseGrade&)> on_graded = [](const ExerciseGrade&) {};
};

const char* word(const QuestionGrade& grade);  ///< "right", "wrong", "not answered"

/// Judges all exercises and questions of `grading`. When `student` is empty, there are no questions. Throws
/// MissingError when an exercise cannot be judged and the library's own solution of it fails as well: then
/// the machine is at fault.
Grades grade(const Submission& submission, const std::string& student, const Grading& grading);

std::string grades_json(const Grades& grades);
/// The grades in the format of results.json, which Gradescope reads.
std::string gradescope_json(const Grades& grades);

}  // namespace tinymp::classroom
