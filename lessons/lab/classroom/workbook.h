#pragma once

#include <lessons/lab/classroom/exercise.h>
#include <filesystem>
#include <string>

/// The learner's own files, one for each exercise: mine/01_half/float_to_half.h beside ./learn. They are not
/// in git, so they conflict neither with an update nor with a teacher's tree. A student hands in this folder.
namespace tinymp::classroom {

class Workbook {
 public:
  explicit Workbook(std::filesystem::path folder) : folder_(std::move(folder)) {}

  std::filesystem::path path(const Exercise& exercise) const { return folder_ / exercise.own_file(); }
  bool has(const Exercise& exercise) const;
  /// Puts the stub there when the file is missing; returns whether it did.
  bool begin(const Exercise& exercise) const;
  /// Puts the stub there again. The old file is kept beside it as float_to_half.1.h, .2.h, ...; returns the
  /// path of the copy, empty when there was no file.
  std::filesystem::path reset(const Exercise& exercise) const;

 private:
  std::filesystem::path folder_;
};

/// The folder $TINYMP_MINE, or mine/ beside ./learn when it is not set.
std::filesystem::path workbook_folder();

}  // namespace tinymp::classroom
