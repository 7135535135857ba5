#pragma once

#include <lessons/lab/classroom/exercise.h>
#include <lessons/lab/classroom/verdict.h>
#include <lessons/lab/classroom/workbook.h>
#include <lessons/lab/learn/progress.h>

/// One exercise judged for its learner, as ./learn check and watch do it.
namespace tinymp::classroom {

/// "exercise 1.2", what progress.txt calls it.
std::string progress_key(const Exercise& exercise);
bool has_passed(const Exercise& exercise, const lab::Progress& progress);
/// The first exercise that has not passed; null when all have.
const Exercise* next_of(const std::vector<Exercise>& exercises, const lab::Progress& progress);
/// Of those that have not passed: the next of the same chapter, else the first of it, else the next one, else the first.
const Exercise* next_after(const Exercise& exercise, const std::vector<Exercise>& exercises,
                           const lab::Progress& progress);

/// The path relative to the current folder when it lies below that folder, otherwise unchanged.
std::string shown(const std::filesystem::path& path);

struct Attempt {
  bool began = false;  ///< there was no file, so the stub was put there
  Verdict verdict{};
};
/// Judges the learner's file and writes the attempt, and a first pass, into progress.txt. The unchanged stub
/// is no attempt.
Attempt attempt(const Exercise& exercise, const Workbook& workbook, lab::Progress& progress,
                const Patience& patience = {});

/// Tells the verdict, the learner's file and the command to type next.
std::string describe(const Exercise& exercise, const Attempt& attempt, const Workbook& workbook);

}  // namespace tinymp::classroom
