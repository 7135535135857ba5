#pragma once

#include <lessons/lab/classroom/verdict.h>

/// Files that judge an exercise and are made once: its judge, its server, its library.
namespace tinymp::classroom {

/// Returns the path of the file `name` in the build folder, or in a folder of this process where the build
/// folder cannot be written. When the file is missing, runs the command that `command` returns for a path,
/// and removes stale files of the exercise. Throws MissingError when the command fails.
std::filesystem::path judge_cache_file(
    const Exercise& exercise, const std::string& name, const Patience& patience,
    const std::function<std::vector<std::string>(const std::filesystem::path&)>& command);

/// Returns a hash of everything that judges an exercise: the texts of its check, the compiler, and the sizes
/// and times of the files `built`. When the hash changes, a text that has passed has to be judged again.
std::string judged_by(const Exercise& exercise, const std::vector<std::filesystem::path>& built);
/// The same, with the library, judge.cpp and serve.cpp, which each check is linked to, as `built`.
std::string judged_by(const Exercise& exercise);

/// The names of files that all exercises share begin with it.
inline constexpr const char* shared_headers = "standard";

/// Removes the files of the exercise, and those that all share, that nothing has used for an hour. Such a
/// file was made from older texts, or by a process that did not finish. A file used within the hour may be in
/// use by another process.
void remove_stale(const std::filesystem::path& folder, const Exercise& exercise);

}  // namespace tinymp::classroom
