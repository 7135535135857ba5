#include <unistd.h>

#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/table.h>
#include <tinymp/data/dataset.h>
#include <tinymp/data/text.h>
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>

// ./learn alone: where you are, what is next.
namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;

const std::string runs_folder = Options{}.out;

/// A smoke run does not count, nor one whose technique was turned off: the first line of a log tells the
/// command behind it.
bool counts(const fs::path& log) {
  std::error_code ignored;
  if (!fs::is_regular_file(log, ignored)) return false;
  std::ifstream in(log);
  std::array<char, 8192> line{};  // a whole header, but for one that no run of tinymp has
  in.getline(line.data(), line.size());
  const std::string_view header(line.data());
  return header.find(" --smoke") == std::string::npos && header.find(" --sabotage") == std::string::npos;
}

/// How often each experiment was recorded: "06_loss_scaling" -> 2. A folder counts when a log lies in it that
/// does.
std::map<std::string, int> recorded() {
  std::map<std::string, int> count;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(runs_folder, ignored)) {
    if (!entry.is_directory(ignored)) continue;
    const fs::directory_iterator inside(entry.path(), ignored);
    const bool has_log = std::any_of(begin(inside), end(inside), [](const fs::directory_entry& file) {
      return file.path().extension() == ".jsonl" && counts(file.path());
    });
    const std::string name = entry.path().filename().string();
    if (has_log) ++count[name.substr(0, name.rfind('-'))];
  }
  return count;
}

std::string times(int count) { return count == 0 ? "-" : std::to_string(count); }

/// All lessons, and how often each was recorded.
void print_lessons(std::map<std::string, int>& count, const report::TerminalStyle& style) {
  report::Table table{{"", "lesson", "question", "runs"},
                      {report::Align::right, report::Align::left, report::Align::left, report::Align::right},
                      {}};
  for (const Lesson& lesson : course())
    table.rows.push_back(
        {lesson_number(lesson.name), lesson.title, lesson.question, times(count[lesson.name])});
  std::cout << report::format_table(table, style) << "\n";
}

void print_exercises() {
  const fs::path program = own_folder() / "classroom";
  if (!fs::exists(program)) return;
  std::cout << "Exercises\n  " << run({"", program.string()}, {"progress"}).output << "\n";
}

void print_data() {
  std::cout << "Data\n";
  for (const std::string name : {"cut", "fashion", "mnist", "cifar10", "text"}) {
    try {
      const std::string there = name == "text"
                                    ? concat(data::load_text(1 << 16).train.size(), " words to train with")
                                    : concat(data::count_images(name), " images");
      std::cout << "  " << report::pad(name, 9) << there << "\n";
    } catch (const MissingError& error) {
      const std::string what = error.what();  // ends in a list of the places where it was looked for
      std::cout << fitted(concat("  ", report::pad(name, 9), what.substr(0, what.find(". Looked in"))))
                << "\n";
    } catch (const Error& error) {
      std::cout << fitted(concat("  ", report::pad(name, 9), error.what())) << "\n";
    }
  }
}

}  // namespace

int overview(bool plain) {
  const report::TerminalStyle style = report::terminal_style(STDOUT_FILENO, plain);
  std::map<std::string, int> count = recorded();
  int all = 0;
  for (const auto& [name, times] : count) all += times;

  std::string next = count["quickstart"] == 0 ? "./learn quickstart" : "";
  for (const Lesson& lesson : course())
    if (count[lesson.name] == 0 && next.empty()) next = "./learn run " + lesson_number(lesson.name);
  if (next.empty()) next = "./learn train --help";

  std::cout << report::bold("tinymp: mixed-precision training, from the bits to the curves.", style)
            << "\n\n";
  if (all == 0) {
    std::cout << "Nothing is recorded in " << runs_folder << "/ yet.\n";
  } else {
    std::cout << all << (all == 1 ? " experiment is" : " experiments are") << " recorded in " << runs_folder
              << "/; ./learn compare " << runs_folder << "/NAME shows one again.\n";
  }
  std::cout << "Next:  " << report::bold(next, style) << "\n\n";
  print_lessons(count, style);
  print_exercises();
  print_data();
  std::cout << "\n./learn --help tells all commands.\n";
  return 0;
}

}  // namespace tinymp::lab
