#include <fmt/format.h>
#include <lessons/lab/classroom/class_report.h>
#include <lessons/lab/classroom/exercise.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/similarity.h>
#include <algorithm>
#include <map>

namespace tinymp::classroom {
namespace {

/// A cell of a CSV file. Spreadsheets read a cell that begins with one of =+-@ as a formula. A student must
/// not write one into the teacher's table, so such a cell gets a quote in front.
std::string cell(std::string text) {
  if (!text.empty() && std::string("=+-@\t\r").find(text[0]) != std::string::npos) text = "'" + text;
  if (text.find_first_of(",;\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string row(const std::vector<std::string>& cells) {
  std::string text;
  for (const std::string& one : cells) text += (text.empty() ? "" : ",") + cell(one);
  return text + "\n";
}

/// For each student, the shingles of each exercise.
std::vector<std::vector<Shingles>> shingles_of_all(const std::vector<Grades>& all) {
  std::map<std::string, std::string> stubs;
  for (const Exercise& exercise : exercises()) stubs[exercise.number()] = read_file(exercise.stub());
  std::vector<std::vector<Shingles>> shingles;
  for (const Grades& grades : all) {
    std::vector<Shingles>& of_student = shingles.emplace_back();
    for (const ExerciseGrade& grade : grades.exercises)
      of_student.push_back(shingles_of(grade.text, stubs[grade.number]));
  }
  return shingles;
}

}  // namespace

Sums sums_of(const Grades& grades) {
  Sums sums;
  for (const ExerciseGrade& grade : grades.exercises) {
    sums.hints += grade.hints;
    sums.gave_up += grade.gave_up ? 1 : 0;
    if (grade.passed()) sums.likeness = std::max(sums.likeness, grade.likeness);
  }
  sums.answers = static_cast<int>(std::ranges::count_if(grades.questions, &QuestionGrade::right));
  return sums;
}

std::vector<Pair> alike(const std::vector<Grades>& all, double least) {
  const std::vector<std::vector<Shingles>> shingles = shingles_of_all(all);
  std::vector<Pair> pairs;
  for (std::size_t a = 0; a < all.size(); ++a)
    for (std::size_t b = a + 1; b < all.size(); ++b)
      for (std::size_t i = 0; i < all[a].exercises.size(); ++i) {
        const ExerciseGrade &one = all[a].exercises[i], &other = all[b].exercises[i];
        const double both = likeness(shingles[a][i], shingles[b][i]);
        if (both >= least)
          pairs.push_back(
              {one.number, all[a].student, all[b].student, both, std::max(one.likeness, other.likeness)});
      }
  std::ranges::stable_sort(pairs, std::greater(), &Pair::likeness);
  return pairs;
}

std::string class_csv(const std::vector<Grades>& all) {
  std::vector<std::string> head{"student", "score", "max_score"};
  for (const ExerciseGrade& grade : all.front().exercises) head.push_back(grade.number + " " + grade.id);
  for (const char* const name : {"questions_right", "hints", "gave_up", "largest_likeness_to_reference",
                                 "notable_words", "sandbox", "late"})
    head.emplace_back(name);
  std::string text = row(head);
  for (const Grades& grades : all) {
    std::vector<std::string> cells{grades.student, std::to_string(grades.score()),
                                   std::to_string(grades.most())};
    std::string notable;
    for (const ExerciseGrade& grade : grades.exercises) {
      cells.push_back(grade.outcome);
      for (const std::string& name : grade.notable)
        notable += fmt::format("{}{}: {}", notable.empty() ? "" : " ", grade.number, name);
    }
    const Sums sums = sums_of(grades);
    for (const int n : {sums.answers, sums.hints, sums.gave_up}) cells.push_back(std::to_string(n));
    cells.push_back(fmt::format("{:.3f}", sums.likeness));
    cells.push_back(notable);
    cells.push_back(grades.sandbox);
    cells.push_back(grades.minutes_late ? std::to_string(*grades.minutes_late) : "");
    text += row(cells);
  }
  return text;
}

std::vector<Group> groups_of(const std::vector<Pair>& pairs) {
  std::vector<Group> groups;
  for (const Pair& pair : pairs) {
    Group joined{pair.exercise, {pair.one, pair.other}, pair.likeness, pair.likeness, pair.to_reference};
    const auto touches = [&](const Group& group) {
      return group.exercise == pair.exercise && (std::ranges::count(group.students, pair.one) != 0 ||
                                                 std::ranges::count(group.students, pair.other) != 0);
    };
    for (const Group& group : groups) {
      if (!touches(group)) continue;
      for (const std::string& student : group.students)
        if (std::ranges::count(joined.students, student) == 0) joined.students.push_back(student);
      joined.least = std::min(joined.least, group.least);
      joined.likeness = std::max(joined.likeness, group.likeness);
      joined.to_reference = std::max(joined.to_reference, group.to_reference);
    }
    std::erase_if(groups, touches);
    std::ranges::sort(joined.students);
    groups.push_back(joined);
  }
  std::ranges::stable_sort(groups, std::greater(), &Group::likeness);
  return groups;
}

std::string pairs_csv(const std::vector<Pair>& pairs) {
  std::string text = row({"exercise", "student", "and", "likeness", "largest_likeness_to_reference"});
  for (const Pair& pair : pairs)
    text += row({pair.exercise, pair.one, pair.other, fmt::format("{:.3f}", pair.likeness),
                 fmt::format("{:.3f}", pair.to_reference)});
  return text;
}

}  // namespace tinymp::classroom
