#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/workbook.h>
#include <cstdlib>

namespace tinymp::classroom {

namespace fs = std::filesystem;

bool Workbook::has(const Exercise& exercise) const { return fs::exists(path(exercise)); }

bool Workbook::begin(const Exercise& exercise) const {
  if (has(exercise)) return false;
  write_file(path(exercise), read_file(exercise.stub()));
  return true;
}

fs::path Workbook::reset(const Exercise& exercise) const {
  const fs::path own = path(exercise);
  fs::path backup;
  if (has(exercise)) {
    int i = 1;
    do
      backup =
          own.parent_path() / (own.stem().string() + "." + std::to_string(i++) + own.extension().string());
    while (fs::exists(backup));
    fs::rename(own, backup);
  }
  begin(exercise);
  return backup;
}

fs::path workbook_folder() {
  const char* const elsewhere = std::getenv("TINYMP_MINE");
  return elsewhere != nullptr && *elsewhere != '\0' ? fs::path(elsewhere) : source_folder() / "mine";
}

}  // namespace tinymp::classroom
