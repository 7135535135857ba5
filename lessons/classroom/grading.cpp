#include <lessons/classroom/files.h>
#include <lessons/classroom/grading.h>
#include <lessons/classroom/overlay.h>
#include <lessons/classroom/question.h>
#include <lessons/classroom/sha256.h>
#include <lessons/classroom/similarity.h>
#include <lessons/learn/progress.h>
#include <tinymp/base/error.h>
#include <tinymp/train/provenance.h>
#include <algorithm>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

ExerciseGrade grade_exercise(const Submission& submission, const Exercise& exercise,
                             const lab::Progress& progress, const Grading& grading) {
  const std::string key = "exercise " + exercise.number();
  ExerciseGrade grade{.number = exercise.number(), .id = exercise.id, .title = exercise.title};
  grade.attempts = progress.count(key, "attempt");
  grade.hints = progress.count(key, "hint");
  grade.gave_up = progress.first(key, "gave_up").has_value();
  const std::optional<std::string> text = submission.text(exercise.own_file());
  if (!text) return grade;
  const std::string stub = read_file(exercise.stub());
  const std::string reference =
      region_of(read_file(source_folder() / exercise.file), exercise.id, exercise.file);
  grade.text = *text;
  grade.sha256 = sha256(*text);
  grade.likeness = likeness_to(reference, *text, stub);
  grade.notable = notable_words(*text);
  grade.outcome = "unwritten";
  if (is_stub(*text, stub)) return grade;
  grade.outcome = "refused";
  grade.message = leaves_its_place(*text);
  if (!grade.message.empty()) return grade;
  fs::remove_all(grading.scratch / "check");  // nothing of the submission before is left
  const Verdict verdict = judge(exercise, *text, exercise.own_file().string(), grading.scratch / "check",
                                grading.patience, grading.fence);
  grade.outcome = word(verdict.outcome);
  grade.message = verdict.message;
  grade.seconds = verdict.seconds;
  return grade;
}

}  // namespace

const char* word(const QuestionGrade& grade) {
  return grade.right ? "right" : grade.answer.empty() ? "not answered" : "wrong";
}

int Grades::score() const {
  const auto passed = std::ranges::count_if(exercises, &ExerciseGrade::passed);
  const auto right = std::ranges::count_if(questions, &QuestionGrade::right);
  return points_of_an_exercise * static_cast<int>(passed) + points_of_a_question * static_cast<int>(right);
}

int Grades::most() const {
  return points_of_an_exercise * static_cast<int>(exercises.size()) +
         points_of_a_question * static_cast<int>(questions.size());
}

Grades grade(const Submission& submission, const std::string& student, const Grading& grading) {
  Grades grades{.student = student, .date = train::utc_now(), .sandbox = name_of(grading.fence)};
  // A copy: what lies in a submission may be a link to anywhere.
  const fs::path copy = grading.scratch / "progress.txt";
  write_file(copy, submission.progress());
  const lab::Progress progress(copy.string());
  for (const Exercise& exercise : grading.exercises) {
    try {
      grades.exercises.push_back(grade_exercise(submission, exercise, progress, grading));
    } catch (const std::exception& error) {  // one that cannot be judged is no reason to judge none
      grades.exercises.push_back({.number = exercise.number(),
                                  .id = exercise.id,
                                  .title = exercise.title,
                                  .outcome = "stopped",
                                  .message = error.what()});
    }
    grading.told(grades.exercises.back());
  }
  const std::string answers = submission.text("answers.txt").value_or("");
  for (int n = first_question; n <= last_question && !student.empty(); ++n) {
    const std::string answer = answer_in(answers, n);
    grades.questions.push_back({n, answer, is_right(question(n, student), answer)});
  }
  return grades;
}

}  // namespace tinymp::classroom
