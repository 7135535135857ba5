#pragma once

#include <lessons/lab/classroom/exercise.h>
#include <filesystem>
#include <string>

/// The learner's own files: mine/01_half/float_to_half.h beside ./learn, one an exercise. They are not in
/// git, so neither an update nor a teacher's tree is in their way; who hands in work hands in this folder.
namespace tinymp::classroom {

class Workbook {
 public:
  explicit Workbook(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path path(const Exercise& exercise) const { return folder_ / exercise.own_file(); }
  bool has(const Exercise& exercise) const;
  /// Puts the stub there when nothing is; says whether it did.
  bool begin(const Exercise& exercise) const;
  /// The stub again. What was there is kept beside it, float_to_half.1.h, .2.h, ...; returns that path, empty
  /// when there was nothing.
  std::filesystem::path reset(const Exercise& exercise) const;

 private:
  std::filesystem::path folder_;
};

/// $TINYMP_MINE, else mine/ beside ./learn.
std::filesystem::path workbook_folder();

}  // namespace tinymp::classroom
