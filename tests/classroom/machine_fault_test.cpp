#include <tests/catch.h>

#include <lessons/lab/classroom/exercise.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/machine_fault.h>
#include <lessons/lab/classroom/verdict.h>
#include <csignal>

// Whose fault it is that a compiler gave no program.
namespace tinymp::test {
namespace {

using namespace classroom;

std::string fault_of(int code, const std::string& output) {
  return machine_fault({.code = code, .output = output});
}

}  // namespace

TEST_CASE("machine: a compiler that cannot start or write says so in its own words") {
  CHECK(fault_of(127, "cannot start g++: No such file or directory\n") ==
        "cannot start g++: No such file or directory\n");
  CHECK(fault_of(1, "Cannot create temporary file in : Permission denied\n") ==
        "Cannot create temporary file in : Permission denied");
  CHECK(fault_of(1, "x.h:1:2: warning: y\n/tmp/c.s: No space left on device\n") ==
        "/tmp/c.s: No space left on device");
  CHECK_FALSE(fault_of(1, "g++: fatal error: Killed signal terminated program cc1plus\n").empty());
  CHECK_FALSE(fault_of(1, "error: unable to make temporary file: Read-only file system\n").empty());
  CHECK_FALSE(
      fault_of(1, "ld: l.a(f.o): error opening thin archive member: No such file or directory\n").empty());
  CHECK_FALSE(machine_fault({.signal = SIGKILL}).empty());
}

TEST_CASE("machine: what is wrong with the text is not the machine's fault") {
  CHECK(fault_of(0, "No space left on device") == "");
  CHECK(fault_of(1, "x.h:3:5: error: 'half' was not declared in this scope\n") == "");
  CHECK(fault_of(1, "  3 | const char* s = \"Cannot create temporary file\"\n") == "");
  CHECK(fault_of(1, "x.h:3:9: error: expected ';'\n  f(\"can't create\")\n") ==
        "");  // as clang++ shows a line
  CHECK(fault_of(1, "x.h:3:1: error: static assertion failed: cannot execute\n") == "");
  CHECK(machine_fault({.signal = SIGKILL, .out_of_time = true}) == "");
  CHECK(machine_fault({.signal = SIGKILL, .out_of_memory = true}) == "");
  CHECK(machine_fault({.signal = SIGSEGV}) == "");  // g++ itself, at a text that it cannot bear
}

TEST_CASE("machine: an answer that gets no thread is not judged") {
  const ScratchFolder scratch("threads");
  const std::string throws =
      "float_from_half_bits(std::uint16_t bits) {\n"
      "  if (!std::is_constant_evaluated()) throw "
      "std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));\n"
      "  return 0;\n}\n";
  const Exercise exercise = exercises_named("1.2").front();
  const Verdict verdict =
      judge(exercise, "TINYMP_HD constexpr float " + throws, "answer.h", scratch.path(), {}, Fence::none);
  CAPTURE(verdict.message);
  CHECK(verdict.outcome == Verdict::Outcome::machine);
  CHECK(verdict.message.starts_with("The machine had no thread for it"));
}

}  // namespace tinymp::test
