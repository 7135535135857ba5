#pragma once

#include <lessons/lab/classroom/grading.h>
#include <tinymp/train/run_log.h>
#include <string>
#include <vector>

/// The reports on a class: a table, the groups of students whose files are alike, and a page.
namespace tinymp::classroom {

/// Two students whose files for an exercise are alike.
struct Pair {
  std::string exercise, one, other;
  double likeness = 0;      ///< likeness of the two files
  double to_reference = 0;  ///< the larger of their two likenesses to the reference: both may come from it
};

/// Returns the pairs whose likeness is at least `least`, the most alike first.
std::vector<Pair> alike(const std::vector<Grades>& all, double least);

std::string class_csv(const std::vector<Grades>& all);  ///< one row for each student
std::string pairs_csv(const std::vector<Pair>& pairs);
/// Students who are connected by pairs of one exercise: A like B and B like C make one group, so three copies
/// are one group and not three pairs.
struct Group {
  std::string exercise;
  std::vector<std::string> students;
  /// The smallest and the largest likeness of its pairs, and their largest to the reference.
  double least = 0, likeness = 0, to_reference = 0;
};
std::vector<Group> groups_of(const std::vector<Pair>& pairs);
/// The page is self-contained. It holds the alarms, the table, the reasons of failures, how many passed each
/// exercise, the groups that are alike, and the curves of `runs`. Its links to the students' files are
/// relative to `folder`, where the page will lie. When `handed_in` is larger than the number of judged
/// students, the page says so.
std::string class_html(const std::vector<Grades>& all, const std::vector<Pair>& pairs,
                       std::vector<train::Run> runs, const std::filesystem::path& folder,
                       std::size_t handed_in = 0);

/// The sums in a student's row of the CSV table and of the page.
struct Sums {
  int hints = 0, gave_up = 0, answers = 0;
  double likeness = 0;  ///< largest likeness to the reference among the exercises that passed
};
Sums sums_of(const Grades& grades);

}  // namespace tinymp::classroom
