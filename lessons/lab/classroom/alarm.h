#pragma once

#include <lessons/lab/classroom/grading.h>
#include <string>
#include <vector>

namespace tinymp::classroom {

/// Returns a sentence for each exercise that nearly the whole class fails with the same reason: at least 3
/// submissions, and 80 % of those that handed it in. The exercise, the check or this machine is then a
/// likelier cause than the class. A reason that so many fail with somewhere, in any exercise, gets a
/// sentence, too.
std::vector<std::string> alarms(const std::vector<Grades>& all);

/// "wrong: " and the first line of the message, without characters that harm a terminal.
std::string reason(const ExerciseGrade& grade);

}  // namespace tinymp::classroom
