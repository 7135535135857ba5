// The exercises: a learner writes pieces of the library and sees their own code train the models.
//
//   ./learn check             lists the exercises, and which of them pass
//   ./learn check 1.1         compiles mine/01_half/float_to_half.h and runs every case
//   ./learn watch             judges a file each time it is saved
//   ./learn hint 1.1          a nudge; again: where to look; once more: nearly the code

#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/learn/command_line.h>
#include <tinymp/base/error.h>
#include <string_view>

namespace {

using namespace tinymp::classroom;

struct Command {
  std::string_view name;
  int (*run)(int argc, const char* const* argv);
};
constexpr Command commands[] = {
    {"check", check},         {"watch", watch},       {"hint", hint},       {"solution", solution},
    {"reset", reset},         {"progress", progress}, {"overlay", overlay}, {"question", question_command},
    {"grade", grade_command}, {"collect", collect}};

}  // namespace

int main(int argc, char** argv) {
  const int code = tinymp::lab::guarded([&] {
    tinymp::classroom::install_signal_handlers();
    const std::string_view name = argc > 1 ? argv[1] : "";
    for (const auto& [command, run] : commands)
      if (name == command) return run(argc - 1, argv + 1);
    throw tinymp::UsageError(
        "check, watch, hint, solution, reset, question, grade or collect? ./learn --help");
  });
  return code != 0 && tinymp::classroom::interrupted() ? 130 : code;  // 130: Ctrl-C, as shells say
}
