#include <unistd.h>

#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/find_runs.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/recorded_table.h>
#include <CLI/CLI.hpp>
#include <ctime>
#include <filesystem>
#include <iostream>

// ./learn runs: what is recorded.
namespace tinymp::lab {
namespace {

constexpr Lesson lesson{"runs", "What is recorded", "The runs in a folder, the newest first."};

}  // namespace

int runs_command(int argc, char** argv) {
  Options options;
  CLI::App app(concat(lesson.title, ".\n", lesson.question), "./learn runs");
  app.add_option("--out,DIR", options.out, "The folder where runs are recorded")
      ->type_name("DIR")
      ->capture_default_str();
  bool hash = false;
  app.add_flag(
      "--hash", hash,
      "The hash of each run's weights, as ./learn train --hash ends with, in the place of model and data");
  app.add_flag("--plain", options.plain, "ASCII only, no colour");
  app.footer(
      "States:\n"
      "  finished     its result is recorded\n"
      "  running      a program is training it now\n"
      "  interrupted  its program ended before the result; with a checkpoint beside the\n"
      "               log ./learn train --resume goes on, as does the command of a sweep\n"
      "  diverged     its last loss or its result is NaN or infinite: a result, too");
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;

  std::error_code ignored;
  const bool is_there = std::filesystem::is_directory(options.out, ignored);
  const std::vector<std::string> paths = is_there ? logs_below(options.out) : std::vector<std::string>{};
  std::vector<std::string> why;
  std::vector<train::Run> runs;
  for (std::vector<train::Run>& read : read_runs(paths, "", why))
    for (train::Run& run : read) runs.push_back(std::move(run));
  for (const std::string& reason : why)
    if (!reason.empty())
      std::cerr << fitted_for_errors(printable_lines(concat("left out: ", reason))) << "\n";
  if (runs.empty()) {
    std::cout << "Nothing is recorded in " << options.out << "/ yet; ./learn quickstart records some.\n";
    return 0;
  }
  const report::TerminalStyle style = report::terminal_style(STDOUT_FILENO, options.plain);
  const std::size_t count = runs.size();
  const report::RecordedView view{.now = std::time(nullptr),
                                  .columns = hash ? report::RunColumns::weights : report::RunColumns::model,
                                  .folder = options.out,
                                  .unicode = style.unicode};
  std::cout << report::format_table(report::recorded_table(std::move(runs), view), style) << "\n"
            << count << (count == 1 ? " run" : " runs") << " in " << options.out << "; ./learn compare "
            << options.out << "/NAME shows one again.\n";
  return 0;
}

}  // namespace tinymp::lab
