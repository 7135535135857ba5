#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/grading.h>
#include <lessons/lab/classroom/plain_name.h>
#include <lessons/lab/classroom/question.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/self_test.h>
#include <lessons/lab/classroom/similarity.h>
#include <lessons/lab/learn/progress.h>
#include <tinymp/base/error.h>
#include <tinymp/base/sha256.h>
#include <tinymp/train/provenance.h>
#include <algorithm>
#include <chrono>
#include <cmath>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

using Clock = std::chrono::steady_clock;

double seconds_until(Clock::time_point end) {
  return std::chrono::duration<double>(end - Clock::now()).count();
}

/// Fills in everything about a text that needs no judging. The outcome stays empty when the text has to be
/// judged.
void look_at(const std::string& text, const Exercise& exercise, ExerciseGrade& grade) {
  const std::string stub = read_file(exercise.stub());
  const std::string reference = exercise.reference();
  grade.text = text;
  grade.sha256 = sha256(text);
  grade.likeness = likeness_to(reference, text, stub);
  grade.notable = notable_words(text);
  grade.message = why_refused(text, exercise.without);
  grade.outcome = is_stub(text, stub) ? "unwritten" : grade.message.empty() ? "" : "refused";
}

constexpr const char* told_unreadable = "It may not be read: chmod -R u+rX on the submissions mends it.";

/// Whether the machine may be at fault instead of the text: the text was not judged, or the compiler's errors
/// do not name the student's file.
bool is_doubtful(const Verdict& verdict, const Exercise& exercise) {
  return verdict.outcome == Verdict::Outcome::machine ||
         (verdict.outcome == Verdict::Outcome::no_build &&
          verdict.message.find(exercise.own_file().string()) == std::string::npos);
}

void judge_into(ExerciseGrade& grade, const Exercise& exercise, const Grading& grading,
                Clock::time_point end) {
  const auto clear = [&] { fs::remove_all(grading.scratch / "check"); };
  const auto judged = [&] {
    clear();  // files of the submission before must not stay
    Patience patience = grading.patience;
    const double left = std::max(seconds_until(end), 0.0);
    for (double* const seconds : {&patience.compile, &patience.run, &patience.by_the_clock})
      *seconds = std::min(*seconds, left);
    return judged_by_machine(exercise, grade.text, grading.scratch / "check", patience, grading);
  };
  const auto is_over = [&] { return seconds_until(end) <= 0; };
  Verdict verdict;
  if (!is_over()) verdict = judged();
  if (!is_over() && is_doubtful(verdict, exercise)) {
    clear();  // the reference needs the room that the text's files take
    if (const std::string why = why_reference_fails(exercise, grading); !why.empty())
      refuse_to_grade(exercise, grading, why);
    verdict = judged();  // the machine may work again
  }
  if (!verdict.passed() && is_over()) {
    grade.outcome = word(Verdict::Outcome::stopped);
    grade.message = "out of time of this student";
    return;
  }
  // The reference could be judged, and the text could not twice: so the text is at fault.
  const bool stopped = verdict.outcome == Verdict::Outcome::machine;
  grade.outcome = word(stopped ? Verdict::Outcome::stopped : verdict.outcome);
  grade.message = verdict.message;
  grade.seconds = verdict.seconds;
  grade.cases = verdict.seed;
}

ExerciseGrade grade_exercise(const Submission& submission, const Exercise& exercise,
                             const lab::Progress& progress, const Grading& grading, Clock::time_point end) {
  const std::string key = "exercise " + exercise.number();
  ExerciseGrade grade{.number = exercise.number(), .id = exercise.id, .title = exercise.title};
  grade.attempts = progress.count(key, "attempt");
  grade.hints = progress.count(key, "hint");
  grade.gave_up = progress.first(key, "gave_up").has_value();
  const std::optional<std::string> text = submission.text(exercise.own_file());
  if (!text && submission.is_too_long(exercise.own_file())) {
    grade.outcome = "too long";
    grade.message = "The file is longer than 256 KB.";
  } else if (!text && submission.is_unreadable(exercise.own_file())) {
    grade.outcome = "unreadable";
    grade.message = told_unreadable;
  }
  if (!text) return grade;
  look_at(*text, exercise, grade);
  if (grade.outcome.empty()) judge_into(grade, exercise, grading, end);
  return grade;
}

/// Minutes from `due` to the newest of the files that count, rounded up.
int minutes_late(const Submission& submission, const Grading& grading) {
  std::vector<fs::path> files;
  for (const Exercise& exercise : grading.exercises) files.push_back(exercise.own_file());
  if (!grading.questions.empty()) files.emplace_back("answers.txt");
  // Doubles, because the difference of two times may not fit their type.
  const auto minutes = [](fs::file_time_type time) {
    return std::chrono::duration<double, std::ratio<60>>(time.time_since_epoch()).count();
  };
  double late = 0;
  for (const fs::path& file : files)
    if (const auto time = submission.written(file); time && *time > *grading.due)
      late = std::max(late, std::ceil(minutes(*time) - minutes(*grading.due)));
  return static_cast<int>(std::min(late, 9'999'999.0));  // a file dated in the year 2400 is late, too
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
  Grades grades{.student = plain_name(student),
                .date = train::utc_now(),
                .sandbox = name_of(grading.fence),
                .folder = submission.folder()};
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(grading.seconds));
  // Works on a copy: a file in a submission may be a link to anywhere.
  const fs::path copy = grading.scratch / "progress.txt";
  write_file(copy, submission.progress());
  const lab::Progress progress(copy.string());
  for (const Exercise& exercise : grading.exercises) {
    try {
      grades.exercises.push_back(grade_exercise(submission, exercise, progress, grading, end));
    } catch (const MissingError&) {  // the machine is at fault: no submission can be judged
      throw;
    } catch (const std::exception& error) {  // the other exercises are judged all the same
      if (interrupted()) throw;
      grades.exercises.push_back({.number = exercise.number(),
                                  .id = exercise.id,
                                  .title = exercise.title,
                                  .outcome = "stopped",
                                  .message = error.what()});
    }
    grading.on_graded(grades.exercises.back());
  }
  if (std::ranges::all_of(grades.exercises, [](const auto& one) { return one.outcome == "missing"; })) {
    std::vector<fs::path> names;
    for (const Exercise& exercise : grading.exercises) names.push_back(exercise.own_file());
    const std::string why = submission.misplaced(names);
    for (ExerciseGrade& one : grades.exercises) one.message = why;
  }
  const std::string answers = submission.text("answers.txt").value_or("");
  const bool closed = !grading.questions.empty() && submission.is_unreadable("answers.txt");
  for (const int n : grading.questions) {
    if (student.empty()) break;
    const std::string answer = closed ? told_unreadable : answer_in(answers, n);
    grades.questions.push_back({n, answer, is_right(question(n, student), answer)});
  }
  if (grading.due) grades.minutes_late = minutes_late(submission, grading);
  return grades;
}

}  // namespace tinymp::classroom
