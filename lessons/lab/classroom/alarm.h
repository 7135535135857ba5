#pragma once

#include <lessons/lab/classroom/grading.h>
#include <string>
#include <vector>

namespace tinymp::classroom {

/// What nearly a whole class fails in the same words: rather the exercise, the check or this machine than the
/// class. A sentence each, for at least 3 submissions, 80 % of those that handed in anything there.
std::vector<std::string> alarms(const std::vector<Grades>& all);

/// "wrong: its first line", in which nothing harms a terminal.
std::string reason(const ExerciseGrade& grade);

}  // namespace tinymp::classroom
