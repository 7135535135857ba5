#pragma once

#include <lessons/lab/classroom/verdict.h>

/// Files that judge an exercise and are made once: its judge, its server, its library.
namespace tinymp::classroom {

/// Returns the path of the file `name` in the build folder, or in a folder of this process where the build
/// folder cannot be written. When the file is not there, runs the command that `command` returns for a path,
/// and removes stale files of the exercise. Throws MissingError when the command fails.
std::filesystem::path judge_cache_file(
    const Exercise& exercise, const std::string& name, const Patience& patience,
    const std::function<std::vector<std::string>(const std::filesystem::path&)>& command);

/// What judges an exercise, as a word: the texts of its check, the compiler, and what lies built in `built`,
/// with sizes and times. Another word, and what has passed is to be judged again.
std::string judged_by(const Exercise& exercise, const std::vector<std::filesystem::path>& built);
/// ... with the library, and all that a check is linked to.
std::string judged_by(const Exercise& exercise);

/// Removes what was kept for the exercise and has not been used for an hour: it was made from other texts, or
/// by one who did not come to the end. What was used lately another process may be about to use.
void remove_stale(const std::filesystem::path& folder, const Exercise& exercise);

}  // namespace tinymp::classroom
