#pragma once

#include <lessons/lab/classroom/submission.h>
#include <lessons/lab/classroom/verdict.h>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

/// What a submission is worth, and all that a teacher may want to know of it.
namespace tinymp::classroom {

struct ExerciseGrade {
  std::string number{}, id{}, title{};
  /// Those of a verdict; also "missing", "too long", "unreadable", "refused" (why_refused) and
  /// "unwritten" (it is the stub).
  std::string outcome = "missing";
  std::string message{};
  int attempts = 0, hints = 0;  ///< as progress.txt says, which the student could have written
  bool gave_up = false;
  std::string sha256{};  ///< of the file
  double likeness = 0;   ///< to the reference
  std::vector<std::string> notable{};
  double seconds = 0;
  std::optional<std::uint64_t> cases{};  ///< the seed of those that were drawn: check --cases
  std::string text{};                    ///< not written down; for the likeness of pairs

  bool passed() const { return outcome == "passed"; }
  bool handed_in() const { return outcome != "missing" && outcome != "unwritten"; }
  bool failed() const { return handed_in() && !passed(); }
};

struct QuestionGrade {
  int chapter = 0;
  std::string answer{};  ///< as it stands in answers.txt; empty: none
  bool right = false;
};

struct Grades {
  std::string student{}, date{}, sandbox{};  ///< student: fit to be shown, and to name a file
  std::vector<ExerciseGrade> exercises{};
  std::vector<QuestionGrade> questions{};
  std::filesystem::path folder{};     ///< in which the judged files lie
  std::optional<int> minutes_late{};  ///< when there is a time until which it was due

  int score() const;
  int most() const;
};

inline constexpr int points_of_an_exercise = 10, points_of_a_question = 5;

using Judging = std::function<Verdict(const Exercise&, const std::string& text, const std::string& path,
                                      const std::filesystem::path& scratch, const Patience&, Fence)>;

struct Grading {
  std::vector<Exercise> exercises{};
  std::vector<int> questions{1, 2, 3, 4, 5, 6, 7, 8, 9};  ///< of which chapters
  Fence fence = Fence::limits;
  std::filesystem::path scratch{};
  Patience patience{};
  double seconds = 1200;  ///< for all exercises of one student, by the clock
  std::optional<std::filesystem::file_time_type> due{};
  Judging judge = classroom::judge;  ///< tests have others
  /// After each.
  std::function<void(const ExerciseGrade&)> on_graded = [](const ExerciseGrade&) {};
};

const char* word(const QuestionGrade& grade);  ///< "right", "wrong", "not answered"

/// Without a name of the student there are no questions. Throws MissingError when an exercise cannot be
/// judged, and the library's own solution of it cannot either: then it is the machine.
Grades grade(const Submission& submission, const std::string& student, const Grading& grading);

std::string grades_json(const Grades& grades);
/// The format of results.json that Gradescope's autograders write.
std::string gradescope_json(const Grades& grades);

}  // namespace tinymp::classroom
