#pragma once

#include <lessons/lab/classroom/exercise.h>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// What a student hands in: their folder mine/ with progress.txt, answers.txt and perhaps runs/*.jsonl, or a
/// folder that holds it. Nothing in it is trusted: links, pipes and files that are too long are not read.
namespace tinymp::classroom {

struct RecordedRuns {
  std::vector<std::filesystem::path> files{};   ///< *.jsonl below, at most 100, none above 16 MiB
  std::vector<std::filesystem::path> closed{};  ///< folders on the way that cannot be read
};

class Submission {
 public:
  /// `progress`: where it lies, when it is not in the folder or the one above it.
  explicit Submission(const std::filesystem::path& folder, std::filesystem::path progress = {});

  const std::filesystem::path& folder() const { return folder_; }
  /// Empty when there is no such file, or none that is read. A byte order mark is dropped.
  std::optional<std::string> text(const std::filesystem::path& name) const;
  bool is_too_long(const std::filesystem::path& name) const;    ///< 256 KB and more
  bool is_unreadable(const std::filesystem::path& name) const;  ///< itself, or a folder on the way
  /// When it was last changed; nothing for what is not read.
  std::optional<std::filesystem::file_time_type> written(const std::filesystem::path& name) const;
  /// Where one of these files lies instead, an archive, or nothing: what to tell who handed in nothing that
  /// is read.
  std::string misplaced(const std::vector<std::filesystem::path>& names) const;
  std::string progress() const;
  RecordedRuns runs() const;

 private:
  std::filesystem::path whole() const;  ///< with what lies beside mine/

  std::filesystem::path folder_, progress_;
};

}  // namespace tinymp::classroom
