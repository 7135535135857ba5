#include <fcntl.h>
#include <lessons/lab/learn/process.h>
#include <sys/wait.h>
#include <tests/catch.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace tinymp::test {
namespace {

using namespace lab;

std::vector<std::string> shell(const std::string& text) { return {"/bin/sh", "-c", text}; }

/// What a program writes to a pipe that is its standard output, and how it ends.
Ended ran(Start program, Pipe& output) {
  program.files.emplace_back(1, output.ends[1]);
  const pid_t process = start(program);
  output.close_end(1);
  Ended ended;
  for (char letter = 0; read(output.ends[0], &letter, 1) == 1;) ended.output += letter;
  ended.code = wait_for(process);
  return ended;
}

}  // namespace

TEST_CASE("process: a program's output, messages and exit code") {
  const Ended shown = run(shell("echo out; exit 3"));
  CHECK(shown.output == "out\n");
  CHECK(shown.code == 3);
  CHECK(run(shell("echo out; echo err >&2"), Messages::hidden).output == "out\n");
  CHECK(run(shell("echo out; echo err >&2"), Messages::in_output).output == "out\nerr\n");
  CHECK(run(shell("kill -9 $$")).code == 128 + SIGKILL);
  CHECK(run(shell("head -c 300000 /dev/zero")).output.size() == 300'000);
}

TEST_CASE("process: a program is found along PATH, or the error says why not") {
  CHECK(run({"sh", "-c", "exit 4"}).code == 4);
  CHECK(run({"/no/such/program"}).code == -1);
  CHECK_THROWS_AS(start({.command = {"/no/such/program"}}), CannotStart);
  CHECK_THROWS_WITH(start({.command = {"/no/such/program"}}),
                    "cannot start /no/such/program: No such file or directory");
  CHECK_THROWS_WITH(start({.command = {"/"}}), Catch::Contains("cannot start /: Permission denied"));
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // nothing is left of those
  CHECK_THROWS_WITH(exec_program({"/no/such/program"}, "get it somewhere"),
                    Catch::Contains("No such file or directory; get it somewhere"));
}

TEST_CASE("process: files change places, whatever numbers they have here") {
  Pipe first, second, output;
  const int four = first.ends[0], three = second.ends[0];
  REQUIRE(write(first.ends[1], "first", 5) == 5);
  REQUIRE(write(second.ends[1], "second", 6) == 6);
  first.close_end(1);
  second.close_end(1);
  // Each gets the number of the other one.
  const Ended ended =
      ran({.command = shell("cat <&" + std::to_string(three) + "; cat <&" + std::to_string(four)),
           .files = {{three, four}, {four, three}}},
          output);
  CHECK(ended.output == "firstsecond");
}

TEST_CASE("process: other files of ours are shared, or none is open") {
  const int open_here = open("/dev/null", O_WRONLY);  // without O_CLOEXEC
  const std::string has = "[ -e /dev/fd/" + std::to_string(open_here) + " ] && echo open || echo closed";
  Pipe shared, closed;
  CHECK(ran({.command = shell(has)}, shared).output == "open\n");
  const Ended alone = ran({.command = shell(has), .files = {{0, 0}, {2, 2}}, .closes_others = true}, closed);
  CHECK(alone.output == "closed\n");
  close(open_here);
}

TEST_CASE("process: the environment is ours, or the one that is given") {
  setenv("TINYMP_PROCESS_TEST", "ours", 1);
  const std::vector<std::string> says = shell("echo $TINYMP_PROCESS_TEST");
  Pipe inherited, given, empty;
  CHECK(ran({.command = says}, inherited).output == "ours\n");
  CHECK(ran({.command = says, .environment = {{"TINYMP_PROCESS_TEST=given"}}}, given).output == "given\n");
  CHECK(ran({.command = says, .environment = std::vector<std::string>{}}, empty).output == "\n");
  unsetenv("TINYMP_PROCESS_TEST");
}

TEST_CASE("process: the child prepares itself, or says what it could not do") {
  Pipe prepared;
  const auto enter = [] { return chdir("/") == 0 ? nullptr : "enter /"; };
  CHECK(ran({.command = shell("pwd"), .prepare = enter}, prepared).output == "/\n");
  const auto fail = [] { return chdir("/no/such/folder") == 0 ? nullptr : "enter the folder"; };
  CHECK_THROWS_WITH(start({.command = shell("true"), .prepare = fail}),
                    "cannot enter the folder: No such file or directory");
}

}  // namespace tinymp::test
