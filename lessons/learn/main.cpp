#include <lessons/learn/command_line.h>
#include <lessons/learn/commands/commands.h>
#include <tinymp/base/error.h>
#include <tinymp/train/provenance.h>
#include <iostream>

// The program behind ./learn: one word chooses the command, the rest is the command's own.
namespace {

using namespace tinymp;

void print_usage() {
  std::cout << "usage: ./learn [COMMAND] [OPTIONS]\n\n  (nothing)     where you are, and what is next\n";
  for (const lab::Command& command : lab::commands()) {
    std::cout << "  " << command.usage << std::string(14 - command.usage.size(), ' ') << command.summary
              << "\n";
  }
  std::cout << "\n./learn COMMAND --help tells the options of a command.\n"
               "Exit codes: 0 done, 1 failed, 2 wrong use, 3 this machine lacks something\n";
}

[[noreturn]] void refuse(const std::string& word) {
  std::vector<std::string> names;
  std::string all;
  for (const lab::Command& command : lab::commands()) {
    names.emplace_back(command.name);
    all += (all.empty() ? "" : ", ") + names.back();
  }
  const std::string meant = lab::nearest(word, names);
  throw UsageError(concat("there is no command '", word, "'; ",
                          meant.empty() ? "there are: " + all : "did you mean '" + meant + "'?",
                          " (see ./learn --help)"));
}

int run(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.empty()) return lab::overview();
  if (word == "--help" || word == "-h" || word == "help") {
    print_usage();
    return 0;
  }
  if (word == "--version") {
    std::cout << "tinymp " << TINYMP_VERSION << " (" << train::build_commit() << ", "
              << train::compiler_name() << ")\n";
    return 0;
  }
  for (const lab::Command& command : lab::commands()) {
    if (word == command.name) return command.run(argc - 1, argv + 1);
  }
  refuse(word);
}

}  // namespace

int main(int argc, char** argv) {
  return tinymp::lab::guarded([&] { return run(argc, argv); });
}
