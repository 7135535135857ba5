// The exercises: a learner writes pieces of the library, and sees their own code train the models.
//
//   ./learn check             which there are, and which pass
//   ./learn check 1.1         does mine/01_half/float_to_half.h do what it should?
//   ./learn hint 1.1          a nudge; again: where to look; once more: nearly the code

#include <lessons/classroom/commands.h>
#include <lessons/learn/command_line.h>
#include <tinymp/base/error.h>
#include <string_view>

int main(int argc, char** argv) {
  return tinymp::lab::guarded([&] {
    const std::string_view command = argc > 1 ? argv[1] : "";
    if (command == "check") return tinymp::classroom::check(argc - 1, argv + 1);
    if (command == "hint") return tinymp::classroom::hint(argc - 1, argv + 1);
    if (command == "solution") return tinymp::classroom::solution(argc - 1, argv + 1);
    if (command == "reset") return tinymp::classroom::reset(argc - 1, argv + 1);
    if (command == "mutants") return tinymp::classroom::mutants(argc - 1, argv + 1);
    throw tinymp::UsageError("check, hint, solution or reset? ./learn --help");
  });
}
