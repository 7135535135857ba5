#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lessons/lab/report/write_file.h>
#include <tinymp/base/error.h>
#include <tinymp/train/atomic_file.h>
#include <tinymp/train/run_log.h>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iostream>

namespace tinymp::report {
namespace {

namespace fs = std::filesystem;

/// A device or a pipe is written to: renaming a file to its name would remove it.
void write_through(const std::string& path, std::string_view text, const std::string& what) {
  int file = -1;
  constexpr int most =
      100;  // of 10 ms: the reader of a pipe may come a moment later, one that never comes is an error
  for (int i = 0; i < most && file < 0; ++i) {
    if (i > 0) usleep(10'000);
    file = open(path.c_str(), O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, 0666);
    if (file < 0 && errno != ENXIO) break;
  }
  if (file < 0) throw Error(train::write_failure(what, path, errno));
  fcntl(file, F_SETFL, 0);
  const int failed = train::write_all(file, text);
  close(file);
  if (failed != 0) throw Error(train::write_failure(what, path, failed));
}

/// Standard output or error, when they go to this file: /dev/stdout, say, in a shell's "> all.txt". -1: neither.
int own_output(const std::string& path) {
  struct stat there = {}, here = {};
  if (stat(path.c_str(), &there) != 0) return -1;
  for (const int file : {STDOUT_FILENO, STDERR_FILENO})
    if (fstat(file, &here) == 0 && here.st_dev == there.st_dev && here.st_ino == there.st_ino) return file;
  return -1;
}

/// Behind what was printed there before.
void write_behind(int file, std::string_view text, const std::string& path, const std::string& what) {
  std::cout.flush();
  if (const int failed = train::write_all(file, text)) throw Error(train::write_failure(what, path, failed));
}

/// `path` may be a link; the file that it leads to changes, not the link.
void write_where_it_leads(const std::string& path, std::string_view text, const std::string& what) {
  if (const int file = own_output(path); file >= 0) return write_behind(file, text, path, what);
  std::error_code unknown;
  const fs::file_status status = fs::status(path, unknown);
  const bool is_link = fs::is_symlink(fs::symlink_status(path, unknown));
  const bool is_other = fs::exists(status) && !fs::is_regular_file(status) && !fs::is_directory(status);
  if (is_other || (is_link && !fs::exists(status))) return write_through(path, text, what);
  const fs::path target = is_link ? fs::canonical(path, unknown) : fs::path(path);
  train::write_atomically(what, target.empty() ? path : target.string(), text);
}

}  // namespace

void expect_no_input(const std::string& path, const std::string& flag, std::span<const std::string> read) {
  std::error_code none;
  if (path.empty() || !fs::is_regular_file(path, none)) return;
  const std::string ending = fs::path(path).extension().string();
  const bool was_read =
      std::ranges::any_of(read, [&](const std::string& one) { return fs::equivalent(one, path, none); });
  if (!was_read && ending != ".jsonl" && ending != ".safetensors") return;
  throw UsageError(concat(flag, " ", path,
                          was_read ? ": this file is read; " : ": a recorded run lies there; ",
                          "name another file to write"));
}

void write_whole(const std::string& path, std::string_view text, const std::string& what,
                 const std::string& elsewhere) {
  try {
    write_where_it_leads(path, text, what);
  } catch (const Error& error) {
    std::string message = error.what();
    constexpr std::string_view usual = "--out DIR";
    if (message.ends_with(usual)) message.replace(message.size() - usual.size(), usual.size(), elsewhere);
    throw Error(message);
  }
}

}  // namespace tinymp::report
