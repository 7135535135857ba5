#pragma once

#include <filesystem>
#include <string>

/// Reads and writes whole files. Errors name the path.
namespace tinymp::classroom {

std::string read_file(const std::filesystem::path& path);
/// Makes the folder when it is missing. The old file stays until the new one is complete.
void write_file(const std::filesystem::path& path, const std::string& text);

/// Whether `path` lies in `folder`, or is it.
bool lies_in(const std::filesystem::path& path, const std::filesystem::path& folder);

/// A new folder for temporary files. The destructor removes it.
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
