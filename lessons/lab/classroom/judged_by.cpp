#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/judged_by.h>
#include <lessons/lab/classroom/sha256.h>
#include <tinymp/base/error.h>
#include <algorithm>

namespace tinymp::classroom {

namespace fs = std::filesystem;

std::string judged_by(const Exercise& exercise, const std::vector<fs::path>& built) {
  std::vector<fs::path> texts;  // and the headers that checks share
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
