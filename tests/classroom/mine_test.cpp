#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/judge_cache.h>
#include <lessons/lab/classroom/workbook.h>
#include <lessons/lab/classroom/wrong_versions.h>
#include <tests/catch.h>
#include <tinymp/base/error.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <sstream>

// What ./learn run N --mine builds with.
namespace tinymp::test {
namespace {

using namespace classroom;
namespace fs = std::filesystem;

/// A workbook of its own, and where the overlay goes.
class Desk {
 public:
  Desk() : folder_(fs::temp_directory_path() / ("tinymp-mine-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    setenv("TINYMP_MINE", (folder_ / "mine").c_str(), 1);
  }
  Desk(const Desk&) = delete;
  Desk& operator=(const Desk&) = delete;
  ~Desk() {
    unsetenv("TINYMP_MINE");
    fs::remove_all(folder_);
  }
  void write(const Exercise& exercise, const std::string& text) const {
    write_file(Workbook(workbook_folder()).path(exercise), text);
  }
  /// What it says on the terminal.
  std::string overlay() const {
    const std::string to = (folder_ / "overlay").string();
    const std::array<const char*, 2> words{"overlay", to.c_str()};
    std::ostringstream said;
    std::streambuf* const before = std::cerr.rdbuf(said.rdbuf());
    try {
      classroom::overlay(2, words.data());
    } catch (...) {
      std::cerr.rdbuf(before);
      throw;
    }
    std::cerr.rdbuf(before);
    return said.str();
  }
  std::string file(const std::string& path) const { return read_file(folder_ / "overlay" / path); }
  fs::file_time_type written(const std::string& path) const {
    return fs::last_write_time(folder_ / "overlay" / path);
  }

 private:
  fs::path folder_;
};

}  // namespace

TEST_CASE("mine: a piece that passes is built with, a wrong one is not, and both are said") {
  const Desk desk;
  const Exercise scaler = exercises_named("move_scale").front(),
                 half = exercises_named("half_to_float").front();
  CHECK_THROWS_WITH(desk.overlay(), Catch::Contains("none of yours passes yet"));
  desk.write(half, read_file(half.stub()));  // not begun is no fault
  CHECK_THROWS_WITH(desk.overlay(), Catch::Contains("none of yours passes yet"));

  desk.write(half, "// my own\n" + half.reference());
  desk.write(scaler, wrong_versions(scaler).front().text);
  const std::string said = desk.overlay();
  CHECK_THAT(said, Catch::Contains("scaler: YOURS IS NOT RIGHT, the REFERENCE takes its place"));
  CHECK_THAT(said, Catch::Contains("half: YOURS (1 of its 2) | "));
  CHECK_THAT(said, Catch::Contains("scaler: REFERENCE"));
  CHECK_THAT(desk.file(half.file), Catch::Contains("// my own"));
  CHECK_THAT(desk.file(half.file), Catch::Contains("matches_f16c = false"));  // so that it is really called
  CHECK(desk.file(scaler.file) == read_file(source_folder() / scaler.file));
  CHECK_THAT(desk.file("tinymp/train/pieces.cpp"), Catch::Contains("half: YOURS (1 of its 2) | "));
  CHECK_THAT(desk.file("touched.cmake"), Catch::Contains("kernels/cpu/losses.cpp"));  // includes the half
  CHECK_THAT(desk.file("touched.cmake"), Catch::Contains("tinymp/train/pieces.cpp"));

  const fs::file_time_type before = desk.written(half.file);
  desk.write(scaler, "// right now\n" + scaler.reference());
  CHECK_THAT(desk.overlay(), Catch::Contains("scaler: YOURS"));
  CHECK_THAT(desk.file(scaler.file), Catch::Contains("// right now"));
  CHECK(desk.written(half.file) == before);  // nothing of it is compiled again
}

TEST_CASE("mine: E5M2 from float is compiled into the conversion of arrays, and into nothing else") {
  const Desk desk;
  const Exercise e5m2 = exercises_named("e5m2_from_float").front();
  desk.write(e5m2, "// my own\n" + e5m2.reference());
  CHECK_THAT(desk.overlay(), Catch::Contains("fp8: YOURS (1 of its 2)"));
  CHECK_THAT(desk.file(e5m2.file), Catch::Contains("// my own"));
  CHECK_THAT(desk.file("touched.cmake"), Catch::Contains("tinymp/numeric/convert_float8.cpp"));
  CHECK_THAT(desk.file("touched.cmake"), !Catch::Contains("kernels/"));
}

TEST_CASE("mine: what passed is judged again when another library, or another check, judges it") {
  const Desk desk;
  const Exercise half = exercises_named("half_to_float").front();
  const ScratchFolder folder("library");
  const fs::path library = folder.path() / "lib.a";
  write_file(library, "built");
  const std::string before = judged_by(half, {library});
  CHECK(judged_by(half, {library}) == before);
  fs::last_write_time(library, fs::last_write_time(library) + std::chrono::seconds(1));
  CHECK(judged_by(half, {library}) != before);

  desk.write(half, "// my own\n" + half.reference());
  desk.overlay();
  const std::string known = "judged/" + half.own_file().string(), mark = desk.file(known);
  CHECK_THAT(mark, Catch::Contains(judged_by(half)));
  const fs::file_time_type written = desk.written(known);
  desk.overlay();
  CHECK(desk.written(known) == written);  // not judged again: all is as it was
}

TEST_CASE("mine: every file that has exercises lies in the overlay, whoever wrote its pieces") {
  const Desk desk;
  const Exercise half = exercises_named("half_to_float").front();
  desk.write(half, "// my own\n" + half.reference());
  desk.overlay();
  for (const Exercise& exercise : exercises()) CHECK_NOTHROW(desk.file(exercise.file));
}

}  // namespace tinymp::test
