#include <fcntl.h>
#include <unistd.h>

#include <tinymp/base/error.h>
#include <tinymp/train/atomic_file.h>
#include <tinymp/train/run_log.h>
#include <cerrno>
#include <cstdio>
#include <filesystem>

namespace tinymp::train {
namespace {

/// An open file, closed at the end.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

void reach(WriteStage stage) {
  if (on_write_stage != nullptr) on_write_stage(stage);
}

/// Some file systems cannot wait; they say so with EINVAL or ENOTSUP.
int flush(int file) {
  if (fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP) return 0;
  return errno;
}

int write_part(const std::string& part, std::string_view bytes) {
  const Descriptor file{
      open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666)};
  if (file.number < 0) return errno;
  reach(WriteStage::opened);
  if (const int failed = write_all(file.number, bytes.substr(0, bytes.size() / 2))) return failed;
  reach(WriteStage::half_written);
  if (const int failed = write_all(file.number, bytes.substr(bytes.size() / 2))) return failed;
  if (const int failed = flush(file.number)) return failed;
  reach(WriteStage::written);
  return 0;
}

/// Makes the new name safe, too. A folder that cannot be opened for reading is left to the system.
int flush_folder(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  const Descriptor folder{open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC)};
  return folder.number < 0 ? 0 : flush(folder.number);
}

}  // namespace

int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = write(file, bytes.data(), bytes.size());
    if (wrote < 0 && errno != EINTR) return errno;
    if (wrote > 0) bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

void write_atomically(const std::string& what, const std::string& path, std::string_view bytes) {
  const std::string part = path + ".part";
  int failed = write_part(part, bytes);
  if (failed == 0 && std::rename(part.c_str(), path.c_str()) != 0) failed = errno;
  if (failed != 0) {
    unlink(part.c_str());
    throw Error(write_failure(what, path, failed));
  }
  reach(WriteStage::renamed);
  if (const int late = flush_folder(path)) throw Error(write_failure(what, path, late));
}

}  // namespace tinymp::train
