#pragma once

#include <lessons/lab/learn/process.h>
#include <filesystem>
#include <string>
#include <vector>

/// The lessons' programs, which lie beside this one.
namespace tinymp::lab {

struct LessonProgram {
  std::string number;  ///< "6"
  std::string path;    ///< ".../lesson_06"
};

/// The exit code of a lesson that lacks something: data, a GPU.
inline constexpr int lacks_something = 3;

/// Where this program and the lessons' lie.
std::filesystem::path own_folder();

/// Where the chapters lie: lessons/ of the tree that this program was built from.
std::filesystem::path chapters_folder();

/// Those that are built, by number.
std::vector<LessonProgram> lesson_programs();

/// Runs a lesson's program to its end. Its messages go where ours go.
Ended run(const LessonProgram& lesson, std::vector<std::string> arguments);

}  // namespace tinymp::lab
