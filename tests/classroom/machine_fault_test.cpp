#include <tests/catch.h>

#include <lessons/classroom/machine_fault.h>
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
  CHECK(machine_fault({.signal = SIGKILL, .out_of_time = true}) == "");
  CHECK(machine_fault({.signal = SIGKILL, .out_of_memory = true}) == "");
  CHECK(machine_fault({.signal = SIGSEGV}) == "");  // g++ itself, at a text that it cannot bear
}

}  // namespace tinymp::test
