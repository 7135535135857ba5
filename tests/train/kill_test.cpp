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
  if (fs::exists(path + "/run.jsonl")) plan.resume = path;
  CHECK(train::run(plan, path + "/run.jsonl").result.has_value());
}

/// Starts this program again for the child alone.
pid_t start_child(const fs::path& folder, bool delayed) {
  std::vector<std::string> variables;
  for (char** v = environ; *v != nullptr; ++v) variables.emplace_back(*v);
  variables.push_back(concat(folder_variable, "=", folder.string()));
  if (delayed) variables.push_back(concat(delays_variable, "=1"));
  std::vector<char*> environment;
  for (std::string& v : variables) environment.push_back(v.data());
  environment.push_back(nullptr);
  std::string program = "child", test = child_name;
  char* const arguments[] = {program.data(), test.data(), nullptr};

  const pid_t child = fork();
  if (child != 0) return child;
  const int nowhere = open("/dev/null", O_WRONLY);
  dup2(nowhere, 1);
  dup2(nowhere, 2);
  execve("/proc/self/exe", arguments, environment.data());
  _exit(127);
}

/// Waits for the child, at most so many milliseconds. True: it ended by itself.
bool ends_within(pid_t child, double milliseconds) {
  const auto start = std::chrono::steady_clock::now();
  const auto passed = [&] {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  };
  int status = 0;
  do {
    if (waitpid(child, &status, WNOHANG) != 0) {
      CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
      return true;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  } while (passed() < milliseconds);
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return false;
}

/// How long the child takes when nothing kills it, in milliseconds.
double whole_time(bool delayed) {
  const OwnRun run;
  const auto start = std::chrono::steady_clock::now();
  CHECK(ends_within(start_child(run.folder.path, delayed), 60000));
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// The half-written files in a folder, with the time of their last write.
std::map<std::string, fs::file_time_type> parts_in(const fs::path& folder) {
  std::map<std::string, fs::file_time_type> parts;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".part") parts[entry.path().string()] = entry.last_write_time();
  return parts;
}

/// Log and checkpoints are whole; a .part is read by nothing and written over by the next.
void check_readable(const fs::path& folder) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string path = entry.path().string();
    INFO(path);
    if (path.ends_with(".jsonl"))
      CHECK(message_of([&] { static_cast<void>(train::load_run(path)); }) == "(nothing was thrown)");
    if (path.ends_with(".safetensors"))
      CHECK(message_of([&] { static_cast<void>(train::load_safetensors(path)); }) == "(nothing was thrown)");
  }
}

/// How often a kill struck, and where.
struct Kills {
  int all = 0;
  int between = 0;  ///< the first and the last checkpoint
  int within = 0;   ///< a write
};

/// Kills trainings and lets them go on, each until it ends, until so many kills struck.
Kills kill_and_resume(int kills, std::uint64_t seed) {
  const data::Split data = made_up_split();
  const Plan plan = long_plan(data);
  const OwnRun whole;
  const Outcome expected = finish(plan, whole);
  const double time[] = {whole_time(false), whole_time(true)};
  Rng rng(seed);
  Kills counts;
  while (counts.all < kills) {
    const OwnRun run;
    for (int strikes = 0; strikes < 6; ++strikes) {
      const bool delayed = rng.below(2) == 1;
      const auto moment = static_cast<double>(rng.uniform(0, 1));
      const auto before = parts_in(run.folder.path);
      if (ends_within(start_child(run.folder.path, delayed), moment * time[delayed ? 1 : 0])) break;
      ++counts.all;
      check_readable(run.folder.path);
      const bool finished = fs::exists(run.log()) && train::load_run(run.log()).result;
      counts.between += fs::exists(run.newest()) && !finished;
      counts.within += parts_in(run.folder.path) != before && !parts_in(run.folder.path).empty();
    }
    INFO("after " << counts.all << " kills");
    Plan resumed = plan;
    resumed.resume = run.folder.path.string();
    Outcome outcome = finish(resumed, run);
    std::erase_if(outcome.checkpoints, [](const auto& entry) { return entry.first.ends_with(".part"); });
    check_same(expected, outcome);
  }
  return counts;
}

}  // namespace

TEST_CASE("kill -9 at random moments: all is readable, and the run goes on with the same bits") {
  if (!fs::exists("/proc/self/exe")) SKIP_TEST("no /proc on this machine");
  const Kills kills = kill_and_resume(12, 1);
  CHECK(kills.between > 0);
}

TEST_CASE("kill -9 at 200 random moments, within writes too", "[exhaustive]") {
  if (!fs::exists("/proc/self/exe")) SKIP_TEST("no /proc on this machine");
  const Kills kills = kill_and_resume(320, 2);
  WARN(kills.all << " kills, " << kills.between << " after the first checkpoint, " << kills.within
                 << " within a write");
  CHECK(kills.all >= 200);
  CHECK(kills.between >= 150);
  CHECK(kills.within >= 20);
}

}  // namespace tinymp::test
