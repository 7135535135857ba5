#pragma once

#include <lessons/lab/classroom/exercise.h>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// The files that a student hands in: their folder mine/ with progress.txt, answers.txt and perhaps
/// runs/*.jsonl, or a folder that holds it. Nothing in it is trusted: links, pipes and files that are too
/// long are not read.
namespace tinymp::classroom {

struct RecordedRuns {
  std::vector<std::filesystem::path> files{};   ///< *.jsonl below, at most 100, none above 16 MiB
  std::vector<std::filesystem::path> closed{};  ///< folders on the way that cannot be read
};

class Submission {
 public:
  /// `progress` is the path of progress.txt when it lies neither in the folder nor in the one above it.
  explicit Submission(const std::filesystem::path& folder, std::filesystem::path progress = {});

  const std::filesystem::path& folder() const { return folder_; }
  /// The text of a file. Empty when the file is missing or is not read. A byte order mark is dropped.
  std::optional<std::string> text(const std::filesystem::path& name) const;
  bool is_too_long(const std::filesystem::path& name) const;    ///< longer than 256 KB
  bool is_unreadable(const std::filesystem::path& name) const;  ///< the file, or a folder on the way
  /// The time of its last change; empty when the file is not read.
  std::optional<std::filesystem::file_time_type> written(const std::filesystem::path& name) const;
  /// A hint when nothing was read: where one of the files `names` lies instead, or that an archive is still
  /// packed. Empty when there is neither.
  std::string misplaced(const std::vector<std::filesystem::path>& names) const;
  std::string progress() const;
  RecordedRuns runs() const;

 private:
  std::filesystem::path whole() const;  ///< the folder that holds mine/, or the folder itself

  std::filesystem::path folder_, progress_;
};

}  // namespace tinymp::classroom
