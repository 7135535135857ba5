#pragma once

#include <lessons/lab/classroom/grading.h>
#include <string>

/// Tests whether this machine can grade, before any submission is graded. Where the reference fails, or a
/// wrong version passes, no verdict means anything.
namespace tinymp::classroom {

/// Judges the reference and a wrong version of a header exercise, a linked one and a kernel, behind the fence
/// of `grading`. Throws MissingError, "this machine cannot grade: ...", with the compiler's words.
void expect_fit_to_grade(const Grading& grading);

/// Calls grading.judge. An exception becomes the verdict `machine`: no compiler, no new process, no room on
/// the disk.
Verdict judged_by_machine(const Exercise& exercise, const std::string& text,
                          const std::filesystem::path& scratch, const Patience& patience,
                          const Grading& grading);

/// Returns why the library's own text for this exercise does not pass here; empty: it passes.
std::string why_reference_fails(const Exercise& exercise, const Grading& grading);

/// Throws MissingError with the exercise, the sandbox and `why`.
[[noreturn]] void refuse_to_grade(const Exercise& exercise, const Grading& grading, const std::string& why);

}  // namespace tinymp::classroom
