#include <unistd.h>

#include <lessons/lab/learn/lab_state.h>
#include <lessons/lab/learn/run_progress.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/number.h>
#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <iostream>

namespace tinymp::lab {
namespace {

constexpr int name_width = 22;  // the bars begin below each other

// A signal handler may touch what is here already, and call write(2).
std::array<char, 4096> words{};
volatile std::sig_atomic_t length = 0;

extern "C" void say_and_end(int signal) {
  [[maybe_unused]] const ssize_t written =  // nothing is left to do where that fails
      write(STDERR_FILENO, words.data(), static_cast<std::size_t>(length));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

}  // namespace

LastWords::LastWords(const std::string& sentence) {
  const std::string text = "\n" + sentence + "\n";
  const std::size_t count = std::min(text.size(), words.size());
  std::copy_n(text.begin(), count, words.begin());
  length = static_cast<std::sig_atomic_t>(count);
  std::signal(SIGINT, say_and_end);
  std::signal(SIGTERM, say_and_end);
}

LastWords::~LastWords() {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
}

RunProgress::RunProgress(train::RunHeader header, const std::string& log, const Options& options,
                         report::LiveCurves* live, bool stops)
    : name_(report::without_pieces(header.name)),
      live_(live),
      bar_(stderr, report::pad(name_, name_width), header.steps, options.plain) {
  if (!stops)
    if_interrupted_.emplace(
        fitted_for_errors(concat("Interrupted; what was trained so far is kept: ./learn compare ",
                                 std::filesystem::path(log).parent_path().string())));
  if (live_ == nullptr) return;
  header.name = name_;
  live_->begin(header);
}

void RunProgress::finish() {
  if (live_ != nullptr) {
    live_->finish();
    bar_.update(last_.step, last_.loss, last_.scale);
  }
  bar_.finish();
}

void RunProgress::tell(const train::Run& run) const {
  if (isatty(STDERR_FILENO) == 1 || !run.result) return;
  const train::RunResult result = *run.result;
  std::cerr << concat(name_, ", seed ", run.header.seed, ": ", run.header.metric, " ",
                      report::short_number(result.value, 4), ", ", report::duration(result.seconds), "\n");
}

}  // namespace tinymp::lab
