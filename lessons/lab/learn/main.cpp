#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <tinymp/base/error.h>
#include <tinymp/train/provenance.h>
#include <fstream>
#include <iostream>
#include <string_view>

// The commands that have no program of their own: ./learn alone, train, explain, memory, verify-all, compare, runs,
// predict, tensor-core, convert and scale-trace. The script ./learn starts it, and the other programs, as commands.txt
// says.
namespace {

using namespace tinymp;

struct Command {
  std::string_view name;
  int (*run)(int argc, char** argv);
};
constexpr Command commands[] = {{"train", lab::train_command},     {"explain", lab::explain_command},
                                {"memory", lab::memory_command},   {"verify-all", lab::verify_all},
                                {"compare", lab::compare},         {"runs", lab::runs_command},
                                {"predict", lab::predict_command}, {"tensor-core", lab::tensor_core_command},
                                {"convert", lab::convert_command}, {"scale-trace", lab::scale_trace_command}};

/// All that ./learn can do: the first word of each line of commands.txt.
std::vector<std::string> names() {
  std::vector<std::string> names;
  std::ifstream list(lab::chapters_folder() / "lab/learn/commands.txt");
  for (std::string line; std::getline(list, line);) {
    std::string name = line.substr(0, line.find(' '));
    if (!name.empty() && name != "#") names.push_back(std::move(name));
  }
  return names;
}

[[noreturn]] void refuse(const std::string& word) {
  const std::string meant = lab::nearest(word, names());
  if (meant == word)
    throw UsageError(
        concat("this program has no '", word, "'; ./learn ", word, " starts the one that has it"));
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
  for (const Command& command : commands) {
    if (word == command.name) return command.run(argc - 1, argv + 1);
  }
  refuse(word);
}

}  // namespace

int main(int argc, char** argv) {
  return tinymp::lab::guarded([&] { return run(argc, argv); });
}
