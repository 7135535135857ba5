#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/verdict.h>
#include <lessons/lab/classroom/wrong_versions.h>
#include <tests/catch.h>
#include <unistd.h>

#include <limits>
#include <regex>

// The gate: every exercise judges what lies beside it as it says. Each check is compiled and run as for a
// learner.
namespace tinymp::test {
namespace {

using namespace classroom;
using Outcome = Verdict::Outcome;

/// With the same cases each time: a test does not draw lots.
Verdict judged(const Exercise& exercise, const std::string& text, Patience patience = {}) {
  static const ScratchFolder scratch("gate");  // until the tests end
  patience.seed = 2018;
  return judge(exercise, text, "answer.h", scratch.path(), patience);
}

bool says(const Verdict& verdict, const std::string& expression) {
  return std::regex_search(verdict.message, std::regex(expression));
}

/// Apart by chapters, so that two run at once.
void reject_wrong_versions(int first, int last) {
  for (const Exercise& exercise : exercises()) {
    if (exercise.chapter < first || exercise.chapter > last) continue;
    const std::string library = read_file(source_folder() / exercise.file);
    const std::vector<WrongVersion> versions = wrong_versions(exercise);
    for (const WrongVersion& version : versions) {
      const Verdict verdict = judged(exercise, version.text);
      INFO(exercise.number() << " " << exercise.id << ", " << version.name);
      CAPTURE(verdict.message);
      CHECK(verdict.outcome == Outcome::wrong);
      CHECK(says(verdict, version.says));
      CHECK(says(verdict, "expected = "));
      CHECK(verdict.message.rfind("Your ", 0) == 0);
    }
    CHECK(versions.size() >= 4);
    CHECK(read_file(source_folder() / exercise.file) == library);  // what was judged is not the reference
  }
}

}  // namespace

TEST_CASE("gate: every stub compiles and fails with its message") {
  for (const Exercise& exercise : exercises()) {
    INFO(exercise.number() << " " << exercise.id);
    const Verdict verdict = judged(exercise, read_file(exercise.stub()));
    CAPTURE(verdict.message);
    CHECK(verdict.outcome == Outcome::wrong);
    CHECK(says(verdict, exercise.stub_says));
    CHECK(verdict.message.rfind("Your ", 0) == 0);
  }
}

TEST_CASE("gate: every reference passes, with all its cases") {
  for (const Exercise& exercise : exercises()) {
    INFO(exercise.number() << " " << exercise.id);
    const Verdict verdict = judged(exercise, exercise.reference());
    CAPTURE(verdict.message);
    CHECK(verdict.passed());
    CHECK(verdict.cases == exercise.cases);
  }
}

TEST_CASE("gate: every wrong version of chapters 1 to 3 is rejected, and its misconception is named",
          "[exhaustive]") {
  reject_wrong_versions(1, 3);
}

TEST_CASE("gate: every wrong version of chapters 4 to 6 is rejected, and its misconception is named",
          "[exhaustive]") {
  reject_wrong_versions(4, 6);
}

TEST_CASE("gate: every wrong version from chapter 7 on is rejected, and its misconception is named",
          "[exhaustive]") {
  reject_wrong_versions(7, std::numeric_limits<int>::max());
}

TEST_CASE("gate: an empty file, and one that does not compile, are told with the learner's line") {
  for (const Exercise& exercise : exercises()) {
    INFO(exercise.number() << " " << exercise.id);
    CHECK(judged(exercise, "").outcome == Outcome::no_build);
    const Verdict broken = judged(exercise, "// line 1\nthis is no C++\n" + exercise.reference());
    CAPTURE(broken.message);
    CHECK(broken.outcome == Outcome::no_build);
    CHECK(says(broken, "answer.h:2:"));
  }
}

TEST_CASE("gate: each error is told, in few lines, also behind one with a hundred notes") {
  const Exercise exercise = exercises_named("half_to_float").front();
  const Verdict verdict =
      judged(exercise,
             "}\n#include <string>\nnamespace tinymp {\ntemplate <class T> void never(T) = delete;\n"
             "TINYMP_HD constexpr float float_from_half_bits(std::uint16_t bits) {\n"
             "  std::string() + bits;\n  never(bits);\n  return no_such_name;\n}\n");
  CAPTURE(verdict.message);
  CHECK(verdict.outcome == Outcome::no_build);
  CHECK(says(verdict, "answer.h:6:.*error: "));
  CHECK(says(verdict, "answer.h:7:.*error: .*never"));
  CHECK(says(verdict, "answer.h:8:.*no_such_name"));
  CHECK_FALSE(says(verdict, "\\[with|In file included"));
  CHECK(verdict.message.back() != '\n');  // an empty line follows anyway
}

TEST_CASE("gate: moments that nobody sets crash, and the verdict asks for them") {
  const Exercise exercise = exercises_named("master_weights").front();
  std::string text = exercise.reference();
  const std::string mark = "b.moments[k] = target(";
  REQUIRE(text.find(mark) != text.npos);
  text.replace(text.find(mark), mark.size(), "target(");
  const Verdict verdict = judged(exercise, text);
  CAPTURE(verdict.message);
  CHECK(verdict.outcome == Outcome::stopped);
  CHECK(says(verdict, "Is b\\.moments\\[k\\] set for each k"));
}

TEST_CASE("gate: who ends the check, or prints that it passed, has not passed") {
  const Exercise exercise = exercises_named("half_to_float").front();
  const std::string head =
      "TINYMP_HD constexpr float float_from_half_bits(std::uint16_t bits) {\n"
      "  if (!std::is_constant_evaluated()) ";
  for (const char* const cheat :
       {"std::_Exit(0);", "{ std::puts(\"passed 65550\"); std::fflush(stdout); std::_Exit(0); }",
        "{ [[maybe_unused]] auto n = write(3, \"passed 65550\\n\", 13); std::_Exit(0); }", "std::abort();",
        "for (volatile int i = 0;; i = 1 - i) {}"}) {
    const Verdict verdict =
        judged(exercise,
               "}\n#include <unistd.h>\n#include <cstdio>\n#include <cstdlib>\nnamespace tinymp {\n" + head +
                   cheat + "\n  return bits;\n}\n",
               {.run = 2});
    INFO(cheat);
    CAPTURE(verdict.message, verdict.printed);
    CHECK(verdict.outcome == Outcome::stopped);
  }
}

}  // namespace tinymp::test
