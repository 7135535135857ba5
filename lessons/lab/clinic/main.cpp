// The clinic: fifteen training runs that went wrong, each by a mistake that people really make. The patients
// stand in lessons/clinic/README.md.
//
//   ./learn clinic              lists the patients and the causes
//   ./learn clinic run 3        trains patient 3 again, from its config: the recorded run, bit for bit
//   ./learn check clinic 3 X    tells whether X is the cause

#include <lessons/lab/clinic/commands.h>
#include <lessons/lab/learn/command_line.h>
#include <string_view>

int main(int argc, char** argv) {
  return tinymp::lab::guarded([&] {
    const std::string_view first = argc > 1 ? argv[1] : "", second = argc > 2 ? argv[2] : "";
    if (first == "check") return tinymp::clinic::check(argc - 2, argv + 2);
    if (second == "run") return tinymp::clinic::treat(argc - 2, argv + 2);
    return tinymp::clinic::show(argc - 1, argv + 1);
  });
}
