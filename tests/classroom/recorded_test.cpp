#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/programs.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/verdict.h>
#include <tests/catch.h>

// A table of right answers, recorded while one judging went on, in the place of code: it passes as long as
// the cases come from the same seed.
namespace tinymp::test {
namespace {

using namespace classroom;
namespace fs = std::filesystem;

/// What the exercise's judge says of a program that it talks with.
std::string said(const Exercise& exercise, const std::vector<std::string>& program, std::uint64_t seed,
                 const fs::path& scratch) {
  Link link;
  Companion judge({judge_of(exercise, {}).string(), std::to_string(seed)}, link);
  Limits limits{.seconds = 60};
  limits.file = std::int64_t{1} << 30;
  run_linked(program, limits, link, {Fence::none, scratch});
  return judge.output(60);
}

}  // namespace

TEST_CASE("recorded: answers to the cases of one seed are no answers to those of the next", "[exhaustive]") {
  for (const Exercise& exercise : exercises()) {
    // It asks for every float, in the same order each time. A hand-in may have 256 KiB.
    if (exercise.id == "float_to_half") continue;
    INFO(exercise.number() << " " << exercise.id);
    const ScratchFolder scratch("recorded");
    const std::string reference = exercise.reference();
    REQUIRE(judge(exercise, reference, "answer.h", scratch.path(), {.seed = 1}).passed());
    const std::string table = (scratch.path() / "table").string();
    const std::string right = (scratch.path() / "check").string();
    CHECK(said(exercise, {TINYMP_RELAY, "record", table, right}, 1, scratch.path()).starts_with("passed\n"));
    CHECK(said(exercise, {TINYMP_RELAY, "repeat", table}, 1, scratch.path()).starts_with("passed\n"));
    const std::string next = said(exercise, {TINYMP_RELAY, "repeat", table}, 2, scratch.path());
    CAPTURE(next);
    CHECK_FALSE(next.starts_with("passed\n"));
  }
}

}  // namespace tinymp::test
