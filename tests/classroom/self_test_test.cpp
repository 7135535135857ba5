#include <tests/catch.h>

#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/self_test.h>
#include <tinymp/base/error.h>
#include <filesystem>
#include <utility>

// A machine that cannot grade says so before it gives anybody a verdict.
namespace tinymp::test {
namespace {

using namespace classroom;
using Outcome = Verdict::Outcome;

Grading grading_with(const ScratchFolder& scratch, Judging judge) {
  return {.exercises = exercises_named("1.2"),
          .fence = Fence::limits,
          .scratch = scratch.path(),
          .judge = std::move(judge)};
}

/// The reference passes, any other text is wrong.
Verdict looked_up(const Exercise& exercise, const std::string& text) {
  const bool reference = text == exercise.reference();
  return {.outcome = reference ? Outcome::passed : Outcome::wrong, .message = reference ? "" : "off by one"};
}

Judging always(Outcome outcome, const std::string& message) {
  return [=](const Exercise&, const std::string&, const std::string&, const std::filesystem::path&,
             const Patience&, Fence) { return Verdict{.outcome = outcome, .message = message}; };
}

}  // namespace

TEST_CASE(
    "self-test: a header, a linked exercise and a kernel, right and wrong, behind the fence of the class") {
  const ScratchFolder scratch("self");
  std::vector<std::string> asked;
  const Grading grading =
      grading_with(scratch, [&](const Exercise& exercise, const std::string& text, const std::string&,
                                const std::filesystem::path&, const Patience&, Fence fence) {
        asked.push_back(exercise.number() + (fence == Fence::limits ? "" : " elsewhere"));
        return looked_up(exercise, text);
      });
  CHECK_NOTHROW(expect_fit_to_grade(grading));
  CHECK(asked == std::vector<std::string>{"1.2", "1.2", "4.1", "4.1", "2.1", "2.1"});
}

TEST_CASE("self-test: a machine on which nothing compiles, and one on which all passes, cannot grade") {
  const ScratchFolder scratch("self");
  using Catch::Contains;
  CHECK_THROWS_AS(expect_fit_to_grade(grading_with(scratch, always(Outcome::no_build, "x"))), MissingError);
  CHECK_THROWS_WITH(
      expect_fit_to_grade(
          grading_with(scratch, always(Outcome::machine, "Cannot create temporary file in /tmp"))),
      Contains("this machine cannot grade") && Contains("Cannot create temporary file in /tmp"));
  CHECK_THROWS_WITH(expect_fit_to_grade(grading_with(scratch, always(Outcome::passed, ""))),
                    Contains("a wrong version is judged 'passed'"));
}

TEST_CASE(
    "self-test: a text that cannot be judged is the machine's fault only where the reference cannot either") {
  const ScratchFolder scratch("self"), folder("submission");
  const Exercise exercise = exercises_named("1.2").front();
  write_file(folder.path() / exercise.own_file(), "float f() { return 1; }\n");
  CHECK_THROWS_AS(grade(Submission(folder.path()), "ada",
                        grading_with(scratch, always(Outcome::machine, "No space left on device"))),
                  MissingError);
  const Grades grades =
      grade(Submission(folder.path()), "ada",
            grading_with(scratch, [](const Exercise& one, const std::string& text, const std::string&,
                                     const std::filesystem::path&, const Patience&, Fence) {
              Verdict verdict = looked_up(one, text);
              if (!verdict.passed()) verdict.outcome = Outcome::machine;
              return verdict;
            }));
  CHECK(grades.exercises[0].outcome == "stopped");
  int faults = 1;  // of the machine, that pass
  const Grades again =
      grade(Submission(folder.path()), "ada",
            grading_with(scratch, [&](const Exercise& one, const std::string& text, const std::string&,
                                      const std::filesystem::path&, const Patience&, Fence) {
              Verdict verdict = looked_up(one, text);
              if (!verdict.passed() && faults-- > 0) verdict.outcome = Outcome::machine;
              return verdict;
            }));
  CHECK(again.exercises[0].outcome == "wrong");
}

TEST_CASE("self-test: a student's time ends, and the rest is stopped") {
  const ScratchFolder scratch("self"), folder("submission");
  int judged = 0;
  Grading grading = grading_with(scratch, [&](const Exercise&, const std::string&, const std::string&,
                                              const std::filesystem::path&, const Patience& patience, Fence) {
    ++judged;
    CHECK(patience.compile <= 60);
    return Verdict{.outcome = Outcome::stopped, .message = "slow"};
  });
  grading.exercises = exercises_named("1");
  for (const Exercise& exercise : grading.exercises)
    write_file(folder.path() / exercise.own_file(), "int x;\n");
  grading.seconds = 60;
  CHECK(grade(Submission(folder.path()), "ada", grading).exercises[0].message == "slow");
  grading.seconds = 0;
  judged = 0;
  CHECK(grade(Submission(folder.path()), "ada", grading).exercises[2].message ==
        "out of time of this student");
  CHECK(judged == 0);
}

}  // namespace tinymp::test
