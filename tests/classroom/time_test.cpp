#include <tests/catch.h>

#include <lessons/lab/classroom/descendants.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/verdict.h>

// How long a program may take: what counts is the time for which it had a processor. One that gets none on a
// busy machine has not used its time up; one that waits for ever is ended by the clock.
namespace tinymp::test {
namespace {

using namespace classroom;

Finished run_script(const std::string& script, const Limits& limits, Fence fence,
                    const ScratchFolder& scratch) {
  return run({"/bin/sh", "-c", script}, limits, {fence, scratch.path()});
}

Verdict judged(const std::string& body, const Patience& patience) {
  static const ScratchFolder scratch("time");
  return judge(
      exercises_named("half_to_float").front(),
      "}\n#include <unistd.h>\nnamespace tinymp {\ninline float float_from_half_bits(std::uint16_t bits) {" +
          body + " return bits; }\n",
      "answer.h", scratch.path(), patience);
}

}  // namespace

TEST_CASE("time: who has had no processor has not used its time up") {
  const ScratchFolder scratch("time");
  for (const Fence fence : {Fence::none, Fence::limits}) {
    const Finished idle =
        run_script("sleep 1.5; exit 3", {.seconds = 0.5, .by_the_clock = 60}, fence, scratch);
    CHECK_FALSE(idle.out_of_time);
    CHECK(idle.code == 3);
    CHECK(idle.computed < 0.5);
  }
}

TEST_CASE("time: a loop is ended by the processor's time, its own and that of what it started") {
  const ScratchFolder scratch("time");
  for (const Fence fence : {Fence::none, Fence::limits})
    for (const std::string script :
         {"while :; do :; done", "(while :; do :; done) & wait", "while :; do /bin/true; done"}) {
      const Finished loop = run_script(script, {.seconds = 0.6, .by_the_clock = 300}, fence, scratch);
      CAPTURE(script, loop.output);
      CHECK(loop.out_of_time);
      CHECK(loop.computed >= 0.6);
      CHECK(descendants().empty());
    }
}

TEST_CASE("time: who waits for ever is ended by the clock") {
  const ScratchFolder scratch("time");
  for (const Fence fence : {Fence::none, Fence::limits}) {
    const Finished waits = run_script("sleep 600", {.seconds = 60, .by_the_clock = 0.5}, fence, scratch);
    CHECK(waits.out_of_time);
    CHECK(waits.computed < 60);
    CHECK(descendants().empty());
  }
}

TEST_CASE("time: a verdict tells a loop from a program that waits") {
  const Verdict loop = judged("for (volatile int go = 1; go != 0;) {}", {.run = 1, .by_the_clock = 300});
  CHECK(loop.outcome == Verdict::Outcome::stopped);
  CHECK(loop.message.rfind("It has computed for 1 s and was not done: a loop that never ends?", 0) == 0);
  judged("", {});  // from here on the judge is there, and the compiler alone uses the clock
  const Verdict waits = judged("for (;;) pause();", {.run = 60, .by_the_clock = 30});
  CHECK(waits.outcome == Verdict::Outcome::stopped);
  CHECK(waits.message.rfind("It was not done after 30 s, and has computed for 0 s of them", 0) == 0);
}

}  // namespace tinymp::test
