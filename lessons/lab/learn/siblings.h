#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// The lessons' programs, which lie beside this one.
namespace tinymp::lab {

struct Sibling {
  std::string number;  ///< "6"
  std::string path;    ///< ".../lesson_06"; empty: not built yet
};

/// Where this program and the lessons' lie.
std::filesystem::path own_folder();

/// Where the chapters lie: lessons/ of the tree that this program was built from.
std::filesystem::path chapters_folder();

/// By number.
std::vector<Sibling> lesson_programs();

/// All lessons that there are, built or not, by number.
std::vector<Sibling> lessons_of_course();

/// How a lesson's program ended, and what it wrote to its output. Its messages go where ours go.
struct Ended {
  int code = -1;  ///< its exit code; -1 when it could not be started, or was killed
  std::string output{};
};
Ended run(const Sibling& lesson, std::vector<std::string> arguments);

struct About {
  std::string name, title, question, sabotage, data;  ///< of its Lesson; the first of its data
};
/// What the lesson says about itself; empty fields when it cannot be started. Of one that is not built its
/// chapter tells the title.
About about(const Sibling& lesson);

}  // namespace tinymp::lab
