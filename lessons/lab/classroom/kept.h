#pragma once

#include <lessons/lab/classroom/verdict.h>

/// Files that judge an exercise and are made once: its judge, its server, its library.
namespace tinymp::classroom {

/// The file `name` in the build folder, or for this process alone where that cannot be written. Where it is
/// not there yet `command` makes it, as the file that it is given; and what is stale goes. Throws
/// MissingError when it cannot be made.
std::filesystem::path kept(
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
