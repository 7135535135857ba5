#pragma once

#include <lessons/lab/classroom/verdict.h>

/// The two programs of a check, and how they are compiled.
namespace tinymp::classroom {

/// Returns the path of the exercise's judge. It is made when it is missing: in the build folder, or for this
/// process alone where the build folder cannot be written. Throws MissingError when it cannot be made; so do
/// the next two.
std::filesystem::path judge_of(const Exercise& exercise, const Patience& patience);

/// Returns the part of the program with the submission that answers the judge. When the submission is a .cpp,
/// this part does not include its text: it is an object, made and kept as the judge is. Otherwise it is the
/// source of serve.cpp.
std::filesystem::path server_of(const Exercise& exercise, const Patience& patience);

/// Returns the library without the objects that are compiled from the exercise's file or include it. So
/// nothing defines a function that the submission does not define, and no trick of linking puts the solution
/// in its place. It is made and kept as the judge is, and empty when the exercise links no library. It holds
/// the names of the library's objects, not the objects.
std::filesystem::path library_of(const Exercise& exercise, const Patience& patience);

/// Returns the path of standard.h, for `-include`. With g++ it lies beside its precompiled form: half of a check's time was
/// spent on reading these headers.
std::filesystem::path headers_of(const Exercise& exercise, const Patience& patience);

/// The parts of the program with the submission, beside the submission.
struct Made {
  std::filesystem::path server, library, headers;
};

/// Returns the command that compiles and links the program with the submission.
std::vector<std::string> compile_submission(const Exercise& exercise, const std::filesystem::path& overlay,
                                            const Made& made, const std::filesystem::path& program);

/// Returns the paths that the compiler may read behind a fence, beside the folders of the system.
std::vector<std::filesystem::path> compiler_reads(const Made& made);

}  // namespace tinymp::classroom
