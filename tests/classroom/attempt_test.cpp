#include <lessons/lab/classroom/attempt.h>
#include <lessons/lab/classroom/files.h>
#include <tests/catch.h>

namespace tinymp::test {
namespace {

using namespace classroom;

std::string next(const std::string& passed, const std::vector<std::string>& before = {}) {
  const ScratchFolder folder("next");
  lab::Progress progress((folder.path() / "progress.txt").string());
  for (const std::string& number : before) progress.add("exercise " + number, "passed");
  progress.add("exercise " + passed, "passed");
  const std::vector<Exercise> all{{.id = "a", .chapter = 1, .place = 1},
                                  {.id = "b", .chapter = 1, .place = 2},
                                  {.id = "c", .chapter = 14, .place = 1},
                                  {.id = "d", .chapter = 14, .place = 2},
                                  {.id = "e", .chapter = 15, .place = 1}};
  for (const Exercise& exercise : all)
    if (exercise.number() == passed) {
      const Exercise* const found = next_after(exercise, all, progress);
      return found == nullptr ? "none" : found->number();
    }
  return "?";
}

}  // namespace

TEST_CASE(
    "attempt: behind an exercise comes what is left of its chapter, then the next chapter, then the first") {
  CHECK(next("14.1") == "14.2");
  CHECK(next("14.2") == "14.1");
  CHECK(next("14.1", {"14.2"}) == "15.1");
  CHECK(next("15.1") == "1.1");
  CHECK(next("15.1", {"1.1"}) == "1.2");
  CHECK(next("1.1", {"1.2", "14.1", "14.2", "15.1"}) == "none");
}

}  // namespace tinymp::test
