#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/wrong_versions.h>
#include <tests/catch.h>
#include <tinymp/base/error.h>

// A wrong version is the reference with edits: where one does not fit, the error says which.
namespace tinymp::test {
namespace {

using namespace classroom;
using Catch::Contains;

const std::string reference = "if (s.bad) s.scale /= 2;\ns.bad = false;\n";

/// An exercise of its own folder, whose region is that of 7.1.
struct Made {
  ScratchFolder folder{"wrong"};
  Exercise exercise = exercises_named("move_scale").front();
  explicit Made(const std::string& json) {
    exercise.folder = folder.path();
    write_file(folder.path() / "wrong.json", json);
  }
};

}  // namespace

TEST_CASE("wrong versions: edits are made in the reference, in whatever order they are written") {
  CHECK(edited(reference, {}, "x") == reference);
  CHECK(edited(reference, {{"s.bad = false;", ""}}, "x") == "if (s.bad) s.scale /= 2;\n\n");
  // The first edit's text looks like what the second one looks for: only the reference counts.
  CHECK(edited(reference, {{"= false", "= true"}, {"(s.bad)", "(s.bad = false)"}}, "x") ==
        "if (s.bad = false) s.scale /= 2;\ns.bad = true;\n");
}

TEST_CASE("wrong versions: an edit has to fit the reference in one place, or is named") {
  CHECK_THROWS_WITH(edited(reference, {{"s.bad = false", ""}, {"/= 3", ""}}, "7.1 move_scale, stays_bad"),
                    Contains("7.1 move_scale, stays_bad, edit 2: ") && Contains("does not hold '/= 3'"));
  CHECK_THROWS_WITH(edited(reference, {{"s.bad", ""}}, "x"),
                    Contains("x, edit 1: ") && Contains("more than once"));
  CHECK_THROWS_WITH(edited(reference, {{"", "x"}}, "x"), Contains("edit 1"));
  CHECK_THROWS_WITH(edited(reference, {{"bad = false", ""}, {"s.bad = f", ""}}, "x"),
                    Contains("x, edit 1: overlaps another edit"));
}

TEST_CASE("wrong versions: wrong.json holds them by name, its texts are strings or lines, or a file") {
  const Made made(R"({"b": {"says": "too", "edits": [["s.bad = false;", ["one", "  two"]]]},
                      "a": {"says": "(", "file": "wrong/a.h"}})");
  write_file(made.exercise.folder / "wrong" / "a.h", "whole");
  const std::vector<WrongVersion> versions = wrong_versions(made.exercise);
  REQUIRE(versions.size() == 2);
  CHECK(versions[0].name == "a");
  CHECK(versions[0].says == "(");
  CHECK(versions[0].text == "whole");
  CHECK_THAT(versions[1].text, Contains("  one\n  two\n}"));
  CHECK_THAT(versions[1].text, !Contains("s.bad = false;"));
}

TEST_CASE("wrong versions: a wrong.json that cannot be read says where") {
  CHECK_THROWS_WITH(wrong_versions(Made("{").exercise), Contains("wrong.json: "));
  CHECK_THROWS_WITH(wrong_versions(Made("{}").exercise), Contains("wrong.json holds no wrong version"));
  CHECK_THROWS_WITH(wrong_versions(Made(R"({"a": {"says": "x"}})").exercise),
                    Contains("wrong.json: ") && Contains("edits"));
  CHECK_THROWS_WITH(wrong_versions(Made(R"({"a": {"says": "x", "edits": [["?", "!"]]}})").exercise),
                    Contains("7.1 move_scale, a, edit 1: "));
}

}  // namespace tinymp::test
