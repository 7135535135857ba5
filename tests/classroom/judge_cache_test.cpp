#include <tests/catch.h>

#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/judge_cache.h>
#include <lessons/lab/classroom/programs.h>
#include <lessons/lab/classroom/sandbox.h>
#include <tinymp/base/error.h>
#include <chrono>
#include <filesystem>
#include <thread>

// What is made once for an exercise and kept: judges, and what submissions are linked with.
namespace tinymp::test {
namespace {

using namespace classroom;
namespace fs = std::filesystem;

void write_aged(const fs::path& file, std::chrono::minutes age) {
  write_file(file, "made once");
  fs::last_write_time(file, fs::file_time_type::clock::now() - age);
}

}  // namespace

TEST_CASE("judge cache: what nothing has used for an hour goes, of this exercise alone") {
  const ScratchFolder folder("kept");
  const Exercise exercise = exercises_named("adam").front();
  const auto in = [&](const char* name) { return folder.path() / name; };
  using std::chrono::minutes;
  for (const char* const old : {"adam-0123456789abcdef", "adam-0123456789abcdef.a", "adam-76543210.o.4711.o"})
    write_aged(in(old), minutes(61));
  write_aged(in("adam-fedcba9876543210"), minutes(30));
  write_aged(in("recast-0123456789abcdef"), minutes(600));
  write_aged(in("standard-0123456789abcdef.h.gch"), minutes(61));  // all exercises share it
  // Two at once: each finds that the other has removed what it is about to.
  std::thread other([&] { remove_stale(folder.path(), exercise); });
  remove_stale(folder.path(), exercise);
  other.join();
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 2);
  CHECK(fs::exists(in("adam-fedcba9876543210")));
  CHECK(fs::exists(in("recast-0123456789abcdef")));
}

TEST_CASE("judge cache: what was used is not stale, and what is made takes the place of what is") {
  const Exercise exercise = exercises_named("adam").front();
  int made = 0;
  const auto copy = [&](const fs::path& file) {
    ++made;
    return std::vector<std::string>{"cp", "/dev/null", file.string()};
  };
  const fs::path first = judge_cache_file(exercise, "adam-of-a-test", {}, copy);
  write_aged(first, std::chrono::minutes(120));
  CHECK(judge_cache_file(exercise, "adam-of-a-test", {}, copy) == first);
  CHECK(made == 1);
  const fs::path second = judge_cache_file(exercise, "adam-of-a-test.a", {}, copy);
  CHECK(fs::exists(first));  // used a moment ago
  write_aged(first, std::chrono::minutes(120));
  fs::remove(second);
  judge_cache_file(exercise, "adam-of-a-test.a", {}, copy);
  CHECK_FALSE(fs::exists(first));
  fs::remove(second);
}

TEST_CASE("judge cache: what cannot be made is the machine's fault") {
  const Exercise exercise = exercises_named("adam").front();
  const auto none = [](const fs::path& file) {
    return std::vector<std::string>{"/no/such/ar", file.string()};
  };
  CHECK_THROWS_AS(judge_cache_file(exercise, "adam-never-made", {}, none), MissingError);
  CHECK_THROWS_WITH(
      judge_cache_file(exercise, "adam-never-made", {}, none),
      Catch::Contains("what judges exercise 5.2 cannot be made here") && Catch::Contains("/no/such/ar"));
}

TEST_CASE("judge cache: a check takes the headers that were compiled beforehand") {
  const Exercise exercise = exercises_named("half_to_float").front();
  const fs::path headers = headers_of(exercise, {});
  if (!fs::exists(headers.string() + ".gch")) SKIP_TEST("this compiler has no use for precompiled headers");
  CHECK(fs::file_size(headers.string() + ".gch") > 1'000'000);
  const ScratchFolder folder("headers");
  write_file(folder.path() / exercise.file, read_file(source_folder() / exercise.file));
  std::vector<std::string> command = compile_submission(
      exercise, folder.path(), {server_of(exercise, {}), {}, headers}, folder.path() / "check");
  command.insert(command.end(), {"-Winvalid-pch", "-Werror=invalid-pch"});
  const Finished compiled = run(command, {.seconds = 300});
  CAPTURE(compiled.output);
  CHECK(compiled.code == 0);
}

}  // namespace tinymp::test
