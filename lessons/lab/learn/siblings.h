#pragma once

#include <lessons/lab/learn/process.h>
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

/// Runs a lesson's program to its end.
Ended run(const Sibling& lesson, std::vector<std::string> arguments, Messages messages = Messages::shown);

struct About {
  std::string name, title, question, sabotage, data;  ///< of its Lesson; the first of its data
};
/// What the lesson says about itself; empty fields when it cannot be started. Of one that is not built its
/// chapter tells the title.
About about(const Sibling& lesson);

}  // namespace tinymp::lab
