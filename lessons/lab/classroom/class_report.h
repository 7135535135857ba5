#pragma once

#include <lessons/lab/classroom/grading.h>
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
/// Those who are alike one with the other, each group once, with the most of any pair in it: three copies are
/// one group.
struct Group {
  std::string exercise;
  std::vector<std::string> students;
  double least = 0, likeness = 0, to_reference = 0;  ///< of its pairs, the least alike and the most
};
std::vector<Group> groups_of(const std::vector<Pair>& pairs);
/// Self-contained: alarms, the table, why not, how many passed each exercise, who is alike, and the curves of
/// `runs`. It links the files of the students from `folder`, where it will lie. When more have handed in than
/// were judged it says so.
std::string class_html(const std::vector<Grades>& all, const std::vector<Pair>& pairs,
                       std::vector<train::Run> runs, const std::filesystem::path& folder,
                       std::size_t handed_in = 0);

/// What a row of either sums up.
struct Sums {
  int hints = 0, gave_up = 0, answers = 0;
  double likeness = 0;  ///< the largest, of what passed
};
Sums sums_of(const Grades& grades);

}  // namespace tinymp::classroom
