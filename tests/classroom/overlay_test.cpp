#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/overlay.h>
#include <lessons/lab/classroom/workbook.h>
#include <tests/catch.h>
#include <tinymp/base/error.h>
#include <unistd.h>

#include <filesystem>

namespace tinymp::test {
namespace {

using namespace classroom;
namespace fs = std::filesystem;

const std::string text =
    "before\n"
    "// <exercise a>\n"
    "a 1\na 2\n"
    "// </exercise a>\n"
    "between\n"
    "  // <exercise b>\n"
    "  b\n"
    "  // </exercise b>\n"
    "after\n";

}  // namespace

TEST_CASE("a region is what lies between its markers") {
  CHECK(region_of(text, "a", "f.h") == "a 1\na 2\n");
  CHECK(region_of(text, "b", "f.h") == "  b\n");
  CHECK_THROWS_WITH(region_of(text, "c", "f.h"), Catch::Contains("f.h: the line '// <exercise c>"));
  CHECK_THROWS_WITH(region_of(text + text, "a", "f.h"), Catch::Contains("has to be there once"));
}

TEST_CASE("pieces take the place of regions, and every line keeps the number it has in its own file") {
  const std::string put = with_pieces(text, {{"b", "mine b", "m/b.h"}, {"a", "mine a\n", "m/a.h"}}, "f.h");
  CHECK(put ==
        "before\n"
        "// <exercise a>\n"
        "#line 1 \"m/a.h\"\nmine a\n"
        "#line 5 \"f.h\"\n"
        "// </exercise a>\n"
        "between\n"
        "  // <exercise b>\n"
        "#line 1 \"m/b.h\"\nmine b\n"
        "#line 9 \"f.h\"\n"
        "  // </exercise b>\n"
        "after\n");
  CHECK(with_pieces(text, {}, "f.h") == text);
}

TEST_CASE("a workbook begins with the stub, and reset keeps what was written") {
  const fs::path folder = fs::temp_directory_path() / ("tinymp-workbook-" + std::to_string(getpid()));
  fs::remove_all(folder);
  const Workbook workbook(folder);
  const Exercise exercise = exercises_named("1.1").front();
  CHECK(exercise.id == "float_to_half");
  CHECK_FALSE(workbook.has(exercise));
  CHECK(workbook.begin(exercise));
  CHECK_FALSE(workbook.begin(exercise));
  CHECK(workbook.path(exercise) == folder / "01_half" / "float_to_half.h");
  CHECK(read_file(workbook.path(exercise)) == read_file(exercise.stub()));

  for (const std::string answer : {"first", "second"}) {
    write_file(workbook.path(exercise), answer);
    const fs::path kept = workbook.reset(exercise);
    CHECK(read_file(kept) == answer);
    CHECK(read_file(workbook.path(exercise)) == read_file(exercise.stub()));
  }
  CHECK(fs::exists(folder / "01_half" / "float_to_half.2.h"));
  fs::remove_all(folder);
}

TEST_CASE("a word means an exercise, or those of a chapter") {
  CHECK(exercises_named("1").size() >= 2);
  CHECK(exercises_named("01").front().number() == "1.1");
  CHECK(exercises_named("1.2").front().id == "half_to_float");
  CHECK(exercises_named("half_to_float").size() == 1);
  CHECK_THROWS_WITH(exercises_named("half_to_flaot"), Catch::Contains("did you mean 'half_to_float'"));
  CHECK_THROWS_AS(exercises_named("77"), UsageError);
}

}  // namespace tinymp::test
