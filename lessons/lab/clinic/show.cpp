#include <lessons/lab/clinic/commands.h>
#include <lessons/lab/clinic/print.h>
#include <lessons/lab/learn/command_line.h>
#include <CLI/CLI.hpp>
#include <iostream>

// ./learn clinic: lists the patients, or shows one.
namespace tinymp::clinic {

int show(int argc, const char* const* argv) {
  std::string number;
  CLI::App app(
      "Fifteen training runs that went wrong: find the cause of each. lessons/clinic/README.md tells how.",
      "./learn clinic");
  app.add_option("N", number, "One patient (all of them)");
  app.footer(
      "./learn clinic run N        trains patient N again, from its config\n"
      "./learn check clinic N X    is X the cause?");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;
  if (number.empty()) {
    print_ward();
  } else {
    print_patient(patient(number));
  }
  return 0;
}

}  // namespace tinymp::clinic
