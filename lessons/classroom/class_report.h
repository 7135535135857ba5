#pragma once

#include <lessons/classroom/grading.h>
#include <tinymp/train/run_log.h>
#include <string>
#include <vector>

/// A whole class: one table, those that are alike, one page.
namespace tinymp::classroom {

/// Two students whose files for an exercise are alike.
struct Pair {
  std::string exercise, one, other;
  double likeness = 0;      ///< of the two files
  double to_reference = 0;  ///< the larger of theirs: both may come from the solution
};

/// From `least` on, the most alike first.
std::vector<Pair> alike(const std::vector<Grades>& all, double least);

std::string class_csv(const std::vector<Grades>& all);  ///< a row a student
std::string pairs_csv(const std::vector<Pair>& pairs);
/// Self-contained: the table, how many passed each exercise, the pairs, and the curves of `runs`.
std::string class_html(const std::vector<Grades>& all, const std::vector<Pair>& pairs,
                       std::vector<train::Run> runs);

}  // namespace tinymp::classroom
