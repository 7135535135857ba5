#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <tinymp/base/error.h>
#include <tinymp/train/provenance.h>
#include <iostream>

// The program behind ./learn: one word chooses the command, the rest is the command's own. The script answers
// --help, test and data itself.
namespace {

using namespace tinymp;

[[noreturn]] void refuse(const std::string& word) {
  std::vector<std::string> names{"test", "data"};
  for (const lab::Command& command : lab::commands()) names.emplace_back(command.name);
  const std::string meant = lab::nearest(word, names);
  throw UsageError(concat("there is no command '", word, "'",
                          meant.empty() ? "" : "; did you mean '" + meant + "'?", " (see ./learn --help)"));
}

int run(int argc, char** argv) {
  const std::string word = argc > 1 ? argv[1] : "";
  if (word.empty() || (word == "--plain" && argc == 2)) return lab::overview(!word.empty());
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
