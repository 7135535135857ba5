#pragma once

#include <lessons/lab/classroom/grading.h>
#include <string>

namespace CLI {
class App;
}

/// What a teacher set, as the command lines of grade and collect say it.
namespace tinymp::classroom {

struct Homework {
  std::string only{}, due{};
  double minutes = 10;

  void add_flags(CLI::App& app);  ///< --only, --minutes
  /// Throws UsageError for what names no exercise, no question and no time.
  void set(Grading& grading) const;
};

}  // namespace tinymp::classroom
