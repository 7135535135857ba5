#include <unistd.h>

#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/judge_cache.h>
#include <lessons/lab/classroom/sandbox.h>
#include <tinymp/base/error.h>
#include <tinymp/base/sha256.h>
#include <algorithm>
#include <chrono>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;
using FileTime = fs::file_time_type;

/// Sets the file's time, which tells when it was used last. (The file of another user keeps its time.)
void mark_as_used(const fs::path& file) {
  std::error_code failed;
  fs::last_write_time(file, FileTime::clock::now(), failed);
}

}  // namespace

void remove_stale(const fs::path& folder, const Exercise& exercise) {
  std::error_code failed;
  const FileTime until = FileTime::clock::now() - std::chrono::hours(1);
  for (fs::directory_iterator i(folder, failed), end; !failed && i != end; i.increment(failed)) {
    std::error_code gone;  // another process has removed it
    const FileTime used = i->last_write_time(gone);
    const std::string name = i->path().filename().string();
    const bool own = name.starts_with(exercise.id + "-") || name.starts_with(concat(shared_headers, "-"));
    if (!gone && used < until && own) fs::remove(i->path(), gone);
  }
}

fs::path judge_cache_file(const Exercise& exercise, const std::string& name, const Patience& patience,
                          const std::function<std::vector<std::string>(const fs::path&)>& command) {
  std::error_code failed;
  fs::create_directories(TINYMP_JUDGES, failed);
  fs::path folder = TINYMP_JUDGES;
  if (!fs::exists(folder / name) && access(folder.c_str(), W_OK) != 0) {
    static const ScratchFolder own("judges");  // no submission can read this folder
    folder = own.path();
  }
  const fs::path file = folder / name;
  if (fs::exists(file)) {
    mark_as_used(file);
    return file;
  }
  remove_stale(folder, exercise);
  const fs::path unfinished = concat(file.string(), ".", getpid(), ".o");
  const Finished made =
      run(command(unfinished), {.seconds = 300, .file = 1 << 29, .unwanted = patience.unwanted});
  if (made.code != 0) {
    fs::remove(unfinished, failed);
    throw MissingError(concat("what judges exercise ", exercise.number(), " cannot be made here:\n",
                              made.output.substr(0, 2000)));
  }
  // Another process may have made the file meanwhile, and a fence may hold that one, so it is not replaced.
  // (Some file systems have no hard links.)
  fs::create_hard_link(unfinished, file, failed);
  if (failed && !fs::exists(file)) fs::rename(unfinished, file);
  fs::remove(unfinished, failed);
  return file;
}

std::string judged_by(const Exercise& exercise, const std::vector<fs::path>& built) {
  std::vector<fs::path> texts;  // the texts of the exercise, and the headers that checks share
  for (const fs::path& folder : {exercise.folder, source_folder() / "lessons/lab/classroom"})
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
      if (entry.path().extension() == ".h" || entry.path().filename() == "check.cpp" ||
          entry.path().filename() == "serve.cpp")
        texts.push_back(entry.path());
  std::ranges::sort(texts);
  std::string all = TINYMP_CXX;
  for (const fs::path& path : texts) all += "\n" + path.filename().string() + " " + sha256(read_file(path));
  for (const fs::path& path : built)
    all += concat("\n", fs::file_size(path), " ", fs::last_write_time(path).time_since_epoch().count());
  return sha256(all);
}

std::string judged_by(const Exercise& exercise) {
  return judged_by(exercise, {TINYMP_LIBRARY, TINYMP_JUDGE, TINYMP_SERVER});
}

}  // namespace tinymp::classroom
