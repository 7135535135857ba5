#pragma once

#include <lessons/lab/classroom/verdict.h>

/// The two programs of a check, and how they are compiled.
namespace tinymp::classroom {

/// The exercise's judge. Made where it is not there yet: in the build folder, or for this process alone where
/// that cannot be written. Throws MissingError when it cannot be made, as the next two.
std::filesystem::path judge_of(const Exercise& exercise, const Patience& patience);

/// What answers the judge in the program with the submission: an object that is made and kept as the judge is
/// where it does not see the submission's text, which is a .cpp; else its source.
std::filesystem::path server_of(const Exercise& exercise, const Patience& patience);

/// The library without what is made from the exercise's file: what a submission does not define is defined
/// nowhere, and no trick of linking puts the solution in its place. Likewise made and kept; empty when the
/// exercise wants none. It names the library's objects and holds none of them.
std::filesystem::path library_of(const Exercise& exercise, const Patience& patience);

/// What the program with a submission in it is made of beside the submission.
struct Made {
  std::filesystem::path server, library;
};

/// The command that makes that program.
std::vector<std::string> compile_submission(const Exercise& exercise, const std::filesystem::path& overlay,
                                            const Made& made, const std::filesystem::path& program);

/// What its compiler sees behind a fence, beside the folders of the system.
std::vector<std::filesystem::path> compiler_reads(const Made& made);

}  // namespace tinymp::classroom
