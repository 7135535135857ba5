#include <unistd.h>

#include <lessons/lab/learn/run_progress.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/number.h>
#include <filesystem>
#include <iostream>

namespace tinymp::lab {
namespace {

constexpr int name_width = 22;  // the bars begin below each other

}  // namespace

RunProgress::RunProgress(std::string name, std::int64_t steps, const std::string& log, const Options& options)
    : name_(std::move(name)),
      if_interrupted_(
          fitted_for_errors(concat("Interrupted; what was trained so far is kept: ./learn compare ",
                                   std::filesystem::path(log).parent_path().string()))),
      bar_(stderr, report::pad(name_, name_width), steps, options.plain) {}

void RunProgress::tell(const train::Run& run) const {
  if (isatty(STDERR_FILENO) == 1) return;
  const train::RunResult result = run.result.value_or(train::RunResult{});
  std::cerr << concat(name_, ", seed ", run.header.seed, ": ", run.header.metric, " ",
                      report::short_number(result.value, 4), ", ", report::duration(result.seconds), "\n");
}

}  // namespace tinymp::lab
