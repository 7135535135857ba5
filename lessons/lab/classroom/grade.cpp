#include <sys/stat.h>

#include <fmt/format.h>
#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/grading.h>
#include <lessons/lab/classroom/homework.h>
#include <lessons/lab/classroom/self_test.h>
#include <lessons/lab/classroom/workbook.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/progress.h>
#include <lessons/lab/learn/words.h>
#include <tinymp/base/error.h>
#include <CLI/CLI.hpp>
#include <iostream>

// ./learn grade: judges all exercises of one folder behind a fence and writes the grades.
namespace tinymp::classroom {
namespace {

void print(const ExerciseGrade& grade) {
  std::string line = fmt::format("  {:<5} {:<44} {}", grade.number, grade.title, grade.outcome);
  if (grade.passed() && grade.likeness >= 0.8)
    line += fmt::format(" ({:.0f} % of the reference's text)", 100 * grade.likeness);
  std::cout << lab::fitted(line) << "\n" << std::flush;
}

}  // namespace

int grade_command(int argc, const char* const* argv) {
  std::string out = "grades.json", gradescope, student, folder;
  bool trust = false;
  Homework homework;
  CLI::App app("Judges all that you wrote, without network, and writes down what it is worth.",
               "./learn grade");
  app.add_option("--out", out, "Where the grades go")->capture_default_str();
  app.add_option("--gradescope", gradescope, "The same in Gradescope's format: results.json");
  app.add_option("--id", student, "Whose they are; chooses the questions");
  app.add_option("--mine", folder, "A folder that was handed in (your own)");
  homework.add_flags(app);
  app.add_flag("--trust", trust, "Where no fence works: all of it is known to be harmless");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  std::error_code failed;
  if (!folder.empty() && !std::filesystem::is_directory(folder, failed))
    throw UsageError(concat("there is no folder ", folder));
  if (!folder.empty()) expect_unseen(folder);

  umask(022);  // a submission that root grades runs as another user, and has to see its check
  const ScratchFolder scratch("grade");
  Grading grading{.exercises = exercises(), .scratch = scratch.path()};
  homework.set(grading);
  grading.fence = best_fence(scratch.path(), trust);
  grading.on_graded = print;
  std::cout << lab::fitted("Sandbox: " + describe(grading.fence)) << "\n\n" << std::flush;
  expect_fit_to_grade(grading);
  const Submission submission =
      folder.empty() ? Submission(workbook_folder(), lab::progress_path()) : Submission(folder);
  const Grades grades = grade(submission, student, grading);
  for (const QuestionGrade& answer : grades.questions)
    std::cout << fmt::format("  {:<5} {:<44} {}\n", answer.chapter, "Question", word(answer));
  if (student.empty() && !grading.questions.empty())
    std::cout << "  Questions are judged with --id STUDENT\n";
  write_file(out, grades_json(grades));
  if (!gradescope.empty()) write_file(gradescope, gradescope_json(grades));
  std::cout << lab::fitted(
      fmt::format("\n{} of {} points. Grades: {}\n", grades.score(), grades.most(), out));
  return 0;
}

}  // namespace tinymp::classroom
