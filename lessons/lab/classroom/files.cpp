#include <sys/stat.h>

#include <lessons/lab/classroom/files.h>
#include <tinymp/base/error.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>

namespace tinymp::classroom {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw MissingError(concat("cannot read ", path.string(), ": ", std::strerror(errno)));
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, const std::string& text) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  const fs::path part = path.string() + ".part";
  std::ofstream file(part, std::ios::binary);
  file << text;
  file.close();
  if (file) fs::rename(part, path, failed);
  expect(file && !failed, "cannot write ", path.string(), ": ",
         failed ? failed.message() : std::strerror(errno),
         "; is the disk full, or the folder write-protected?");
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  const auto whole = [](const fs::path& any) { return fs::weakly_canonical(fs::absolute(any)); };
  const fs::path way = whole(path).lexically_relative(whole(folder));
  return !way.empty() && *way.begin() != "..";
}

ScratchFolder::ScratchFolder(const std::string& name) {
  std::string pattern = (fs::temp_directory_path() / ("tinymp-" + name + "-XXXXXX")).string();
  expect(mkdtemp(pattern.data()) != nullptr, "cannot make a folder ", pattern, ": ", std::strerror(errno));
  path_ = fs::canonical(pattern);
  chmod(path_.c_str(), 0755);  // a submission that root grades runs as another user
}

ScratchFolder::~ScratchFolder() {
  std::error_code failed;
  fs::remove_all(path_, failed);
}

}  // namespace tinymp::classroom
