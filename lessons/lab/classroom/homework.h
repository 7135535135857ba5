#pragma once

#include <lessons/lab/classroom/grading.h>
#include <string>

namespace CLI {
class App;
}

/// The exercises, questions and times that a teacher sets, read from the command lines of grade and collect.
namespace tinymp::classroom {

struct Homework {
  std::string only{}, due{};
  double minutes = 10;

  void add_flags(CLI::App& app);  ///< --only, --minutes
  /// Writes the homework into `grading`. Throws UsageError for a word that is no exercise, no question or no
  /// time.
  void set(Grading& grading) const;
};

}  // namespace tinymp::classroom
