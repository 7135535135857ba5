#pragma once

#include <lessons/lab/classroom/grading.h>
#include <string>

/// Whether this machine can grade, asked before anybody is graded. Where the reference does not pass, or a
/// wrong version does, no verdict on a student's text means anything.
namespace tinymp::classroom {

/// Judges the reference and a wrong version of a header exercise, a linked one and a kernel, behind the fence
/// of `grading`. Throws MissingError, "this machine cannot grade: ...", with the compiler's words.
void expect_fit_to_grade(const Grading& grading);

/// As grading.judge. What that throws says that the machine could not judge: without a compiler, a process to
/// be had, a disk to write on.
Verdict judged_by_machine(const Exercise& exercise, const std::string& text,
                          const std::filesystem::path& scratch, const Patience& patience,
                          const Grading& grading);

/// Why the library's own text for this exercise does not pass here; empty: it does.
std::string why_reference_fails(const Exercise& exercise, const Grading& grading);

/// The exception that says so.
[[noreturn]] void refuse_to_grade(const Exercise& exercise, const Grading& grading, const std::string& why);

}  // namespace tinymp::classroom
