#include <lessons/lab/classroom/alarm.h>
#include <lessons/lab/classroom/plain_name.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <map>
#include <set>

namespace tinymp::classroom {
namespace {

constexpr int fewest = 3, percent = 80;

bool is_many(int same, int all) { return same >= fewest && 100 * same >= percent * all; }

std::string sentence(int same, int all, const std::string& what, const std::string& why) {
  return concat(same, " of ", all, " submissions fail ", what, " in the same way (", why,
                "): look at the exercise and at this machine first.");
}

/// Maps (number of the exercise, reason) to the number of students.
using Counts = std::map<std::pair<std::string, std::string>, int>;

}  // namespace

std::string reason(const ExerciseGrade& grade) {
  const std::string& text = grade.message;
  const std::string first = text.substr(0, text.find('\n'));
  return grade.outcome + (first.empty() ? "" : ": " + plain_line(first));
}

std::vector<std::string> alarms(const std::vector<Grades>& all) {
  Counts same;
  std::map<std::string, int> handed_in, anywhere;
  int students = 0;
  for (const Grades& grades : all) {
    std::set<std::string> reasons;
    for (const ExerciseGrade& grade : grades.exercises) {
      handed_in[grade.number] += grade.handed_in() ? 1 : 0;
      if (!grade.failed()) continue;
      ++same[{grade.number, reason(grade)}];
      reasons.insert(reason(grade));
    }
    students += std::ranges::any_of(grades.exercises, &ExerciseGrade::handed_in) ? 1 : 0;
    for (const std::string& one : reasons) ++anywhere[one];
  }
  std::vector<std::string> found;
  std::set<std::string> covered;
  for (const auto& [key, n] : same)
    if (is_many(n, handed_in[key.first])) {
      found.push_back(sentence(n, handed_in[key.first], key.first, key.second));
      covered.insert(key.second);
    }
  for (const auto& [why, n] : anywhere)
    if (is_many(n, students) && !covered.contains(why))
      found.push_back(sentence(n, students, "something", why));
  return found;
}

}  // namespace tinymp::classroom
