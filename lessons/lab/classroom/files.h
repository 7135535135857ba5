#pragma once

#include <filesystem>
#include <string>

/// Whole files at a time; what goes wrong is said with the path.
namespace tinymp::classroom {

std::string read_file(const std::filesystem::path& path);
/// Makes the folder when it is not there. The old file stays until the new one is whole.
void write_file(const std::filesystem::path& path, const std::string& text);

/// Whether `path` lies in `folder`, or is it.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

/// A new folder for what is written on the way; it goes when this goes.
class ScratchFolder {
 public:
  explicit ScratchFolder(const std::string& name);
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder();
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tinymp::classroom
