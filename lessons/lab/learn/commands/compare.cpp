#include <unistd.h>

#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/words.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <span>

// ./learn compare: runs from disk, as if they had just been trained.
namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_runs = 10'000;  // a page of more could not be read
constexpr Lesson lesson{"compare", "Recorded runs side by side",
                        "Table, curves and page over runs that were recorded."};

const char* const fields_of_a_log =
    "A log (*.jsonl) has a JSON object a line. What was not measured is left out; NaN\n"
    "and infinities are the strings nan, inf, -inf.\n"
    "  first line   tinymp_run, lesson, question, name, recipe, seed, model, data,\n"
    "               optimizer, steps, batch, metric, higher_is_better, command, date,\n"
    "               commit, compiler, device, threads, pieces\n"
    "  a step       step, loss (of the batch, unscaled), scale (S), skipped, skips\n"
    "               (so far), lr, grad_norm, epoch, seconds, metric (on the way); shares\n"
    "               from 0 to 1: zero and subnormal of the gradients, flushed of those\n"
    "               that FP32 keeps, underflowed and absorbed of the updates\n"
    "  sizes        how many gradients and updates of each size, for each parameter\n"
    "  finding      where the first infinity or NaN came from\n"
    "  result       value (of metric, on the test set), taken, skipped,\n"
    "               first_nonfinite_step (0: none), seconds, peak_bytes\n"
    "More of each: tinymp/train/run_log.h";

/// Every *.jsonl in a folder and below, by name.
std::vector<fs::path> logs_below(const std::string& folder) {
  std::vector<fs::path> found;
  try {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_regular_file() && entry.path().extension() == ".jsonl") found.push_back(entry.path());
    }
  } catch (const fs::filesystem_error& error) {
    throw Error(concat("cannot read the folder ", folder, ": ", error.code().message()));
  }
  std::ranges::sort(found);
  if (found.empty())
    throw Error(concat("no recorded run (*.jsonl) in ", folder, "; ./learn run 6 records some"));
  return found;
}

/// The newest folders of runs, as a hint.
std::string recorded_here(const std::string& folder) {
  std::vector<std::pair<fs::file_time_type, std::string>> found;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored))
      found.emplace_back(entry.last_write_time(ignored), entry.path().string());
  }
  if (found.empty()) return "None is recorded in " + folder + "/ yet; ./learn quickstart records some";
  std::ranges::sort(found, std::greater());
  std::string text = "The newest in " + folder + "/:";
  for (const auto& [_, path] : std::span(found).first(std::min<std::size_t>(3, found.size())))
    text += " " + path;
  return text;
}

/// Reads runs, each once however often it was named.
class Reader {
 public:
  /// A file that was named must be a run; in a folder what is none is left out, and said so.
  void read(const std::string& path) {
    std::error_code ignored;
    if (!fs::exists(path, ignored))
      throw UsageError(concat("there is no file or folder ", path, "; what was recorded lies in runs/"));
    if (!fs::is_directory(path, ignored)) return add(path);
    const std::size_t before = runs_.size() + again_;
    for (const fs::path& log : logs_below(path)) {
      try {
        add(log.string());
      } catch (const UsageError&) {
        throw;
      } catch (const Error& error) {
        std::cerr << fitted_for_errors(concat("left out: ", error.what())) << "\n";
      }
    }
    expect(runs_.size() + again_ > before, "none of the files in ", path, " is a recorded run");
  }
  std::vector<train::Run> take() { return std::move(runs_); }

 private:
  void add(const std::string& path) {
    std::error_code ignored;
    const fs::path real = fs::weakly_canonical(path, ignored);
    if (seen_.contains(real)) {
      ++again_;
      return;
    }
    if (runs_.size() == most_runs)
      throw UsageError(concat("more than ", most_runs, " runs; name a folder that holds fewer"));
    runs_.push_back(train::load_run(path));
    seen_.insert(real);
  }

  std::vector<train::Run> runs_;
  std::set<fs::path> seen_;
  std::size_t again_ = 0;
};

}  // namespace

int compare(int argc, char** argv) {
  Options options;
  std::vector<std::string> paths;
  CLI::App app(concat(lesson.title, ".\n", lesson.question), "./learn compare");
  app.add_option("RUN", paths, "Files (*.jsonl), or folders of them: runs/06_loss_scaling-001");
  add_output_flags(app, options);
  app.footer(fields_of_a_log);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  if (paths.empty()) throw UsageError("compare which runs? " + recorded_here(options.out));
  options.command = typed(command_of(lesson), argc, argv);

  Reader reader;
  for (const std::string& path : paths) reader.read(path);
  Lab lab(lesson, options);
  for (train::Run& run : reader.take()) lab.add(std::move(run));
  return lab.finish();
}

}  // namespace tinymp::lab
