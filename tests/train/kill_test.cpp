#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/train/resume.h>
#include <tinymp/train/atomic_file.h>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

// A training is killed (SIGKILL) at random moments. Whatever was on disk can be read, and the run goes on to the bits
// of one that was never stopped.
namespace tinymp::test {
namespace {

constexpr const char* folder_variable = "TINYMP_TEST_RUN_FOLDER";  ///< set for the child alone
constexpr const char* delays_variable = "TINYMP_TEST_WRITE_DELAY";
constexpr const char* child_name = "the run that is killed: it ends when it is let";
constexpr int steps_descriptor = 9;  ///< the child writes a byte there after each step

Plan long_plan(const data::Split& data) {
  Plan plan = small_plan(data, recipes::fp16_dynamic, 60);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 6, 10});
  plan.optimizer = made<Adam>({.lr = 1e-3f});
  plan.batch = 8;
  plan.log_every = 2;
  plan.save_every = 5;
  plan.keep = 2;
  return plan;
}

/// Trains in the folder that the environment names; otherwise in one of its own, to the end.
TEST_CASE(child_name) {
  const char* const folder = std::getenv(folder_variable);
  const OwnRun own;
  const std::string path = folder == nullptr ? own.folder.path.string() : folder;
  if (folder != nullptr && std::getenv(delays_variable) != nullptr)
    train::on_write_stage = [](train::WriteStage) {
      std::this_thread::sleep_for(std::chrono::milliseconds(3));
    };
  const data::Split data = made_up_split();
  Plan plan = long_plan(data);
  if (folder != nullptr) plan.stop = [] { return write(steps_descriptor, "s", 1) != 1; };
  if (fs::exists(path + "/run.jsonl")) plan.resume = path;
  CHECK(train::run(plan, path + "/run.jsonl").result.has_value());
}

using Clock = std::chrono::steady_clock;
double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// This program again, for the child alone.
class Child {
 public:
  Child(const fs::path& folder, bool delayed) {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    steps_ = ends[0];
    start(folder, delayed, ends[1]);
    close(ends[1]);
  }
  ~Child() { close(steps_); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Waits until a step is over. False: the child ended before.
  bool trains() const {
    char byte;
    return read(steps_, &byte, 1) == 1;
  }

  /// Waits for the child, at most so many milliseconds; then kills it. True: it ended by itself.
  bool ends_within(double milliseconds) const {
    const auto start = Clock::now();
    int status = 0;
    do {
      if (waitpid(id_, &status, WNOHANG) != 0) {
        CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
        return true;
      }
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    } while (milliseconds_since(start) < milliseconds);
    kill(id_, SIGKILL);
    waitpid(id_, &status, 0);
    return false;
  }

 private:
  void start(const fs::path& folder, bool delayed, int steps) {
    std::vector<std::string> variables;
    for (char** v = environ; *v != nullptr; ++v) variables.emplace_back(*v);
    variables.push_back(concat(folder_variable, "=", folder.string()));
    if (delayed) variables.push_back(concat(delays_variable, "=1"));
    std::vector<char*> environment;
    for (std::string& v : variables) environment.push_back(v.data());
    environment.push_back(nullptr);
    std::string program = "child", test = child_name;
    char* const arguments[] = {program.data(), test.data(), nullptr};

    id_ = fork();
    if (id_ != 0) return;
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 1);
    dup2(nowhere, 2);
    dup2(steps, steps_descriptor);
    execve("/proc/self/exe", arguments, environment.data());
    _exit(127);
  }

  pid_t id_ = -1;
  int steps_ = -1;
};

/// How long the child takes from its first step to its end when nothing kills it, in milliseconds.
double time_of_training(bool delayed) {
  const OwnRun run;
  const Child child(run.folder.path, delayed);
  CHECK(child.trains());
  const auto start = Clock::now();
  CHECK(child.ends_within(60000));
  return milliseconds_since(start);
}

/// The half-written files in a folder, with the time of their last write.
std::map<std::string, fs::file_time_type> parts_in(const fs::path& folder) {
  std::map<std::string, fs::file_time_type> parts;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".part") parts[entry.path().string()] = entry.last_write_time();
  return parts;
}

/// The step of the newest checkpoint; 0 without one.
std::int64_t saved_step(const OwnRun& run) {
  if (!fs::exists(run.newest())) return 0;
  const train::Safetensors contents = train::load_safetensors(run.newest());
  return nlohmann::json::parse(contents.metadata.at("tinymp.run")).at("step");
}

/// How often a kill struck, and where.
struct Kills {
  int all = 0;
  int starting = 0;  ///< the program was loading, or reading the checkpoint
  int before = 0;    ///< training, before the first checkpoint
  int between = 0;   ///< training, between the first checkpoint and the last
  int after = 0;     ///< behind the last checkpoint
  int within = 0;    ///< a write; counted above, too
  int resumed = 0;   ///< runs that went on to their end after all kills, with the same bits
  std::map<std::int64_t, int> by_step{};  ///< of the newest checkpoint
};

void count(Kills& kills, const OwnRun& run, bool trained, bool writing, std::int64_t last) {
  const std::int64_t step = saved_step(run);
  ++kills.all;
  ++(!trained ? kills.starting : step == 0 ? kills.before : step < last ? kills.between : kills.after);
  kills.within += writing;
  ++kills.by_step[step];
}

/// Kills trainings and lets them go on, each until it ends or was struck six times, until so many kills struck.
/// One in sixteen falls anywhere after the program was started, the others after a step of it.
Kills kill_and_resume(int wanted, std::uint64_t seed) {
  const data::Split data = made_up_split();
  const Plan plan = long_plan(data);
  const OwnRun whole;
  const Outcome expected = finish(plan, whole);
  const double time[] = {time_of_training(false), time_of_training(true)};
  Rng rng(seed);
  Kills kills;
  while (kills.all < wanted) {
    const OwnRun run;
    for (int strikes = 0; strikes < 6 && kills.all < wanted; ++strikes) {
      const bool delayed = rng.below(2) == 1, anywhere = rng.below(16) == 0;
      const auto moment = static_cast<double>(rng.uniform(0, 0.7f)) * time[delayed ? 1 : 0];
      const auto before = parts_in(run.folder.path);
      const Child child(run.folder.path, delayed);
      const bool trained = !anywhere && child.trains();
      if (child.ends_within(moment)) break;
      check_readable(run.folder.path);
      const auto parts = parts_in(run.folder.path);
      count(kills, run, trained, parts != before && !parts.empty(), plan.steps);
    }
    INFO("after " << kills.all << " kills");
    Plan resumed = plan;
    resumed.resume = run.folder.path.string();
    Outcome outcome = finish(resumed, run);
    std::erase_if(outcome.checkpoints, [](const auto& entry) { return entry.first.ends_with(".part"); });
    check_same(expected, outcome);
    ++kills.resumed;
  }
  return kills;
}

std::string told(const Kills& kills) {
  std::string text =
      concat(kills.all, " kills: ", kills.starting, " while the program started, ", kills.before,
             " before the first checkpoint, ", kills.between, " between the first and the last, ",
             kills.after, " behind it; ", kills.within, " within a write; ", kills.resumed,
             " runs went on to the same bits. By the step of the newest checkpoint:");
  for (const auto& [step, count] : kills.by_step) text += concat(" ", step, ":", count);
  return text;
}

}  // namespace

TEST_CASE("kill -9 at random moments: all is readable, and the run goes on with the same bits") {
  if (!fs::exists("/proc/self/exe")) SKIP_TEST("no /proc on this machine");
  const Kills kills = kill_and_resume(12, 1);
  INFO(told(kills));
  CHECK(kills.between > 0);
}

TEST_CASE("kill -9 at 200 random moments, within writes too", "[exhaustive]") {
  if (!fs::exists("/proc/self/exe")) SKIP_TEST("no /proc on this machine");
  const Kills kills = kill_and_resume(200, 2);
  WARN(told(kills));
  CHECK(kills.all == 200);
  CHECK(kills.between >= 150);
  CHECK(kills.within >= 20);
}

}  // namespace tinymp::test
