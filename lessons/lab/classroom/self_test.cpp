#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/self_test.h>
#include <lessons/lab/classroom/wrong_versions.h>
#include <tinymp/base/error.h>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

/// An exercise of each kind: a header, a linked one, a kernel.
constexpr const char* of_each_kind[] = {"half_to_float", "backward_of_matmul", "wmma_kernel"};

Verdict judged(const Exercise& exercise, const std::string& text, const Grading& grading) {
  const fs::path scratch = grading.scratch / "self_test";
  fs::remove_all(scratch);
  const Verdict verdict = judged_by_machine(exercise, text, scratch, {}, grading);
  fs::remove_all(scratch);
  return verdict;
}

}  // namespace

Verdict judged_by_machine(const Exercise& exercise, const std::string& text, const fs::path& scratch,
                          const Patience& patience, const Grading& grading) {
  try {
    return grading.judge(exercise, text, exercise.own_file().string(), scratch, patience, grading.fence);
  } catch (const std::exception& error) {
    if (interrupted()) throw;
    return {.outcome = Verdict::Outcome::machine, .message = error.what()};
  }
}

std::string why_reference_fails(const Exercise& exercise, const Grading& grading) {
  const std::string text = exercise.reference();
  const Verdict verdict = judged(exercise, text, grading);
  if (verdict.passed()) return "";
  // A program that cannot start says why on its output.
  const std::string printed = verdict.printed.substr(0, verdict.printed.find('\n'));
  return concat("its own solution is judged '", word(verdict.outcome), "'. ", verdict.message,
                printed.empty() ? "" : "\nIt printed: " + printed);
}

void refuse_to_grade(const Exercise& exercise, const Grading& grading, const std::string& why) {
  throw MissingError(concat("this machine cannot grade: of exercise ", exercise.number(), " ", why,
                            "\nSandbox: ", name_of(grading.fence),
                            ". Nobody was given a verdict that this spoils. Look at the free space of ",
                            grading.scratch.parent_path().string(), ", and whether ./learn check ",
                            exercise.number(), " works."));
}

void expect_fit_to_grade(const Grading& grading) {
  for (const char* const id : of_each_kind) {
    const Exercise exercise = exercises_named(id).front();
    if (const std::string why = why_reference_fails(exercise, grading); !why.empty())
      refuse_to_grade(exercise, grading, why);
    const Verdict wrong = judged(exercise, wrong_versions(exercise).front().text, grading);
    if (wrong.outcome != Verdict::Outcome::wrong && wrong.outcome != Verdict::Outcome::stopped)
      refuse_to_grade(exercise, grading,
                      concat("a wrong version is judged '", word(wrong.outcome), "'. ", wrong.message));
  }
}

}  // namespace tinymp::classroom
