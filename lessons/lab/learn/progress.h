#pragma once

#include <optional>
#include <string>
#include <vector>

/// What a reader has done, in a text file of lines that anybody can read, and delete:
///   clinic 3 hint 2026-05-04T09:31:00Z
///   clinic 3 solved 2026-05-04T09:38:00Z
/// Two words for the exercise, one for what happened, the time. Lines are only ever added; one that is no
/// such line is left alone.
namespace tinymp::lab {

class Progress {
 public:
  /// A file that is not there is an empty one.
  explicit Progress(std::string path);

  /// When it happened first: "2026-05-04T09:38:00Z".
  std::optional<std::string> first(const std::string& exercise, const std::string& what) const;
  int count(const std::string& exercise, const std::string& what) const;
  /// Writes the line at once. Throws Error where it cannot.
  void add(const std::string& exercise, const std::string& what);

 private:
  struct Line {
    std::string exercise, what, when;
  };
  std::string path_;
  std::vector<Line> lines_;
};

/// $TINYMP_PROGRESS, else progress.txt beside ./learn.
std::string progress_path();

}  // namespace tinymp::lab
