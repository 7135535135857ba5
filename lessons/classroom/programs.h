#pragma once

#include <lessons/classroom/verdict.h>

/// The two programs of a check, and how they are compiled.
namespace tinymp::classroom {

/// The exercise's judge. Made where it is not there yet: in the build folder, or for this process alone where
/// that cannot be written. Throws Error when it does not compile.
std::filesystem::path judge_of(const Exercise& exercise, const Patience& patience);

/// What answers the judge in the program with the submission: an object that is made and kept as the judge is
/// where it does not see the submission's text, which is a .cpp; else its source.
std::filesystem::path server_of(const Exercise& exercise, const Patience& patience);

/// The command that makes the program with the submission in it.
std::vector<std::string> compile_submission(const Exercise& exercise, const std::filesystem::path& overlay,
                                            const std::filesystem::path& server,
                                            const std::filesystem::path& program);

/// What its compiler sees behind a fence, beside the folders of the system.
std::vector<std::filesystem::path> compiler_reads(const std::filesystem::path& server);

}  // namespace tinymp::classroom
