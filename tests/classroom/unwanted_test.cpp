#include <tests/catch.h>

#include <lessons/lab/classroom/descendants.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/verdict.h>
#include <chrono>

// What ./learn watch does when a file is saved again before it was judged.
namespace tinymp::test {
namespace {

using namespace classroom;

double seconds_of(const std::function<void()>& f) {
  const auto began = std::chrono::steady_clock::now();
  f();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

}  // namespace

TEST_CASE("unwanted: a program that nobody waits for is ended, and all that it started") {
  int looks = 0;
  const Limits limits{.unwanted = [&] { return ++looks > 3; }};
  CHECK(seconds_of([&] {
          CHECK_THROWS_AS(run({"sh", "-c", "sleep 60 & sleep 60"}, limits), Unwanted);
        }) < 10);
  CHECK(descendants().empty());
}

TEST_CASE("unwanted: one that ends in time is told of") {
  const Finished finished = run({"echo", "here"}, {.unwanted = [] { return false; }});
  CHECK(finished.code == 0);
  CHECK(finished.output == "here\n");
}

TEST_CASE("unwanted: what the compiler left unfinished is not used") {
  const Exercise exercise = exercises_named("3.1").front();  // what answers its judge is compiled once
  const std::string right = exercise.reference();
  const ScratchFolder scratch("unwanted");
  int ended = 0;
  for (const int most : {1, 2, 4, 8, 12, 20}) {  // the later ones may be too late
    int looks = 0;
    try {
      const Verdict verdict =
          judge(exercise, right, "mine", scratch.path(), {.unwanted = [&] { return ++looks > most; }});
      CHECK(verdict.passed());
    } catch (const Unwanted&) {
      ++ended;
    }
  }
  CHECK(ended >= 2);
  CHECK(judge(exercise, right, "mine", scratch.path()).passed());
}

}  // namespace tinymp::test
