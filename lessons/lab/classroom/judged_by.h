#pragma once

#include <lessons/lab/classroom/exercise.h>

namespace tinymp::classroom {

/// What judges an exercise, as a word: the texts of its check, the compiler, and what lies built in `built`,
/// with sizes and times. Another word, and what has passed is to be judged again.
std::string judged_by(const Exercise& exercise, const std::vector<std::filesystem::path>& built);
/// ... with the library, and all that a check is linked to.
std::string judged_by(const Exercise& exercise);

}  // namespace tinymp::classroom
