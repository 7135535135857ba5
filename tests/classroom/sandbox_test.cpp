#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <tests/catch.h>
#include <unistd.h>

#include <lessons/lab/classroom/descendants.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/verdict.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>

// What hostile submissions do to this machine: nothing. Behind each fence that works here, as the user who
// runs the tests, and as a plain user when that is root.
namespace tinymp::test {
namespace {

using namespace classroom;
namespace fs = std::filesystem;

constexpr unsigned plain_user = 65534;

/// A folder that anybody may write to, with a victim in it, and one to run in.
class Ground {
 public:
  Ground() : folder_(fs::temp_directory_path() / ("tinymp-sandbox-" + std::to_string(getpid()))) {
    fs::remove_all(folder_);
    write_file(victim(), "precious");
    fs::create_directories(scratch());
    fs::copy_file(TINYMP_HOSTILE, scratch() / "hostile");
    fs::permissions(folder_, fs::perms::all);
    fs::permissions(victim(), fs::perms(0666));
  }
  Ground(const Ground&) = delete;
  Ground& operator=(const Ground&) = delete;
  ~Ground() { fs::remove_all(folder_); }

  fs::path victim() const { return folder_ / "victim"; }
  fs::path scratch() const { return folder_ / "scratch"; }
  bool unharmed() const {
    struct stat about {};
    return read_file(victim()) == "precious" && stat(victim().c_str(), &about) == 0 &&
           (about.st_mode & 07777) == 0666 && files_in(folder_) == 2 && files_in(scratch()) == 1;
  }

 private:
  static std::ptrdiff_t files_in(const fs::path& folder) {
    return std::distance(fs::directory_iterator(folder), fs::directory_iterator());
  }
  fs::path folder_;
};

struct Attempt {
  const char* what;
  bool (*stopped)(const Finished& finished);
};
const Attempt attempts[] = {
    {"loops", [](const Finished& finished) { return finished.out_of_time; }},
    {"forks", [](const Finished& finished) { return finished.out_of_time || finished.code != 0; }},
    {"hides", [](const Finished&) { return true; }},  // that it is gone is seen below
    {"memory", [](const Finished& finished) { return finished.signal != 0 || finished.out_of_memory; }},
    {"memory of many", [](const Finished& finished) { return finished.out_of_memory; }},
    {"disk", [](const Finished& finished) { return finished.code == 1; }},
    {"damage", [](const Finished& finished) { return finished.code == 1; }},
    {"reads", [](const Finished& finished) { return finished.code == 1; }},
    {"kills", [](const Finished& finished) { return finished.code == 1 || finished.signal == 15; }},
    {"network", [](const Finished& finished) { return finished.code == 1; }},
    {"files", [](const Finished& finished) { return finished.code == 1; }},
    {"reaches", [](const Finished& finished) { return finished.code == 1; }},
    {"namespaces", [](const Finished& finished) { return finished.code == 1; }},
    // What an honest program may do
    {"aborts", [](const Finished& finished) { return finished.signal == SIGABRT; }},
    {"raises", [](const Finished& finished) { return finished.signal == SIGTERM; }},
    {"threads", [](const Finished& finished) { return finished.code == 1; }},
};

/// What it got done, in words; nothing is as it should be.
std::string harm_done(const Ground& ground, Fence fence) {
  std::string harm;
  std::array<int, 10> open_files{};  // that a program would inherit
  for (int& file : open_files) file = open("/dev/null", O_WRONLY);
  const std::string grader = std::to_string(getpid());
  for (const Attempt& attempt : attempts) {
    const bool at_grader = attempt.what == std::string("kills") || attempt.what == std::string("reaches");
    const std::string at = at_grader ? grader : ground.victim().string();
    const Finished finished = run({(ground.scratch() / "hostile").string(), attempt.what, at},
                                  {.seconds = 0.6, .memory = 400 << 20}, {fence, ground.scratch()});
    if (!attempt.stopped(finished))
      harm += concat("\n", attempt.what, ": code ", finished.code, ", signal ", finished.signal,
                     finished.out_of_time ? ", out of time " : " ", finished.output);
    if (!descendants().empty()) harm += concat("\n", attempt.what, ": something lives on");
    if (!ground.unharmed()) harm += concat("\n", attempt.what, ": files have changed");
    for (const fs::path folder : {"/tmp", "/var/tmp", "/dev/shm"})
      if (fs::exists(folder / "tinymp-hostile") || fs::exists(folder / "tinymp-hostile-folder"))
        harm += concat("\n", attempt.what, ": something new in ", folder.string());
  }
  for (const int file : open_files) close(file);
  return harm;
}

bool works(const Ground& ground, Fence fence) {
  return run({"/bin/sh", "-c", "exit 0"}, {.seconds = 10}, {fence, ground.scratch()}).code == 0;
}

/// The same in a process of a plain user.
std::string harm_done_to_plain_user(const Ground& ground, Fence fence) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    std::string text = "cannot become a plain user";
    if (setgroups(0, nullptr) == 0 && setresgid(plain_user, plain_user, plain_user) == 0 &&
        setresuid(plain_user, plain_user, plain_user) == 0)
      text = works(ground, fence) ? harm_done(ground, fence) : "does not work";
    [[maybe_unused]] const ssize_t written = write(ends[1], text.data(), text.size());
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char letter = 0;
  while (read(ends[0], &letter, 1) == 1) text += letter;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? text : text + "\nthe grader itself was ended";
}

void hold(Fence fence, bool as_plain_user) {
  const Ground ground;
  INFO(name_of(fence));
  if (!works(ground, fence)) SKIP_TEST((name_of(fence) + " does not work on this machine").c_str());
  if (!as_plain_user) {
    const std::string harm = harm_done(ground, fence);
    CHECK(harm == "");
  } else {
    if (geteuid() != 0) SKIP_TEST("only root can become a plain user");
    fs::permissions(ground.scratch() / "hostile", fs::perms(0755));
    const std::string harm = harm_done_to_plain_user(ground, fence);
    if (harm == "does not work") SKIP_TEST((name_of(fence) + " does not work on this machine").c_str());
    CHECK(harm == "");
  }
}

/// A right answer for 1.2 with something in front of it.
Verdict judged(const std::string& before, Fence fence, const fs::path& scratch, const Patience& patience) {
  const Exercise exercise = exercises_named("half_to_float").front();
  const std::string reference = exercise.reference();
  return judge(exercise, before + reference, "answer.h", scratch, patience, fence);
}

std::string outside(const std::string& text) {
  return "}\n#include <unistd.h>\n#include <string>\n" + text + "\nnamespace tinymp {\n";
}

}  // namespace

TEST_CASE("sandbox: behind bubblewrap nothing is changed", "[alone]") { hold(Fence::bubblewrap, false); }
TEST_CASE("sandbox: behind bubblewrap nothing is changed, as a plain user", "[alone]") {
  hold(Fence::bubblewrap, true);
}
TEST_CASE("sandbox: behind Landlock nothing is changed", "[alone]") { hold(Fence::landlock, false); }
TEST_CASE("sandbox: behind Landlock nothing is changed, as a plain user", "[alone]") {
  hold(Fence::landlock, true);
}

TEST_CASE("sandbox: limits alone end loops, forks and what hides", "[alone]") {
  const Ground ground;
  for (const char* const what : {"loops", "forks", "hides", "memory", "memory of many"}) {
    INFO(what);
    const Finished finished = run({(ground.scratch() / "hostile").string(), what},
                                  {.seconds = 0.6, .memory = 400 << 20}, {Fence::limits, ground.scratch()});
    CAPTURE(finished.output, finished.code);
    CHECK(descendants().empty());
    CHECK(ground.unharmed());
  }
}

TEST_CASE("sandbox: with limits alone, too, no other process is reached") {
  const Ground ground;
  for (const char* const what : {"reaches", "namespaces"}) {
    const Finished finished = run({(ground.scratch() / "hostile").string(), what, std::to_string(getpid())},
                                  {.seconds = 10}, {Fence::limits, ground.scratch()});
    CAPTURE(what, finished.output, finished.signal);
    CHECK(finished.code == 1);
  }
  CHECK(run({(ground.scratch() / "hostile").string(), "aborts"}, {.seconds = 10},
            {Fence::limits, ground.scratch()})
            .signal == SIGABRT);
}

TEST_CASE("sandbox: the better fence is taken, and without one there is no grading but with --trust") {
  CHECK(best_of(true, true, false) == Fence::bubblewrap);
  CHECK(best_of(false, true, false) == Fence::landlock);
  CHECK(best_of(false, false, true) == Fence::limits);
  CHECK_THROWS_AS(best_of(false, false, false), MissingError);
  CHECK_THROWS_WITH(best_of(false, false, false), Catch::Contains("Install bubblewrap"));
}

TEST_CASE("sandbox: a compiler that would never end is stopped") {
  const Ground ground;
  const fs::path scratch = ground.scratch();
  const Fence fence = best_fence(scratch, true);
  judged("", fence, scratch, {});  // from here on there is a judge
  const Patience patience{.compile = 1.5, .run = 2};
  for (const std::string text :
       {"template <long N, int Depth> struct Tree { Tree<2 * N, Depth - 1> l; Tree<2 * N + 1, Depth - 1> r; "
        "};\n"
        "inline Tree<1, 40> tree;",
        "#include \"/dev/zero\"",
        "constexpr long slow(int n) { return n < 2 ? 1 : slow(n - 1) + slow(n - 2); }\n"
        "static_assert(slow(90) > 0);"}) {
    INFO(text);
    const Verdict verdict = judged(outside(text), fence, scratch, patience);
    CHECK(verdict.outcome == Verdict::Outcome::no_build);
    CHECK(verdict.seconds < patience.by_the_clock + 5);
    CHECK(descendants().empty());
  }
  // To a compiler an empty file: so it ends, and what stands behind it is judged.
  const Verdict memory =
      judged(outside("#include \"/proc/self/mem\""), fence, scratch, {.compile = 20, .run = 20});
  CAPTURE(memory.message);
  CHECK((memory.passed() || memory.outcome == Verdict::Outcome::no_build));
  CHECK(descendants().empty());
}

TEST_CASE("sandbox: an honest answer passes behind each fence") {
  const Ground ground;
  for (const Fence fence : {Fence::limits, Fence::landlock, Fence::bubblewrap}) {
    if (!works(ground, fence)) continue;  // whether one does is the business of the tests above
    const Verdict honest = judged("", fence, ground.scratch(), {.compile = 60, .run = 20});
    CAPTURE(name_of(fence), honest.message);
    CHECK(honest.passed());
  }
}

TEST_CASE("sandbox: a program behind a fence writes its temporary files where it may") {
  const Ground ground;
  for (const Fence fence : {Fence::limits, Fence::landlock, Fence::bubblewrap}) {
    if (!works(ground, fence)) continue;
    const Finished finished =
        run({"/bin/sh", "-c", "echo $TMPDIR"}, {.seconds = 10}, {fence, ground.scratch(), true});
    CHECK(finished.output == ground.scratch().string() + "\n");
  }
}

TEST_CASE("sandbox: a forged verdict does not pass") {
  const Ground ground;
  const fs::path scratch = ground.scratch();
  const Fence fence = best_fence(scratch, true);
  // Before main() it reads the word, and writes what the check would.
  const Verdict forged =
      judged(outside("[[gnu::constructor(101)]] inline void forge() { std::string w(256, ' ');\n"
                     "w.resize(static_cast<std::size_t>(std::max<ssize_t>(0, read(0, w.data(), 256))));\n"
                     "w += \"passed 65550\\n\"; if (write(3, w.data(), w.size()) > 0) _exit(0); }"),
             fence, scratch, {.compile = 60, .run = 10});
  CHECK_FALSE(forged.passed());
}

}  // namespace tinymp::test
