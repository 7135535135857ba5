#pragma once

#include <span>
#include <string_view>

/// The commands of ./learn, one file each.
namespace tinymp::lab {

struct Command {
  std::string_view name;
  int (*run)(int argc, char** argv);  ///< argv[0] is the command itself; returns the exit code
};
std::span<const Command> commands();

int overview(bool plain);  ///< ./learn alone; plain: ASCII without colour
int quickstart_command(int argc, char** argv);
int run_command(int argc, char** argv);
int train_command(int argc, char** argv);
int explain_command(int argc, char** argv);
int verify_all(int argc, char** argv);
int compare(int argc, char** argv);
int clinic_command(int argc, char** argv);
int check_command(int argc, char** argv);
int exercise_command(int argc, char** argv);  ///< watch, hint, solution, reset, question, grade and collect
int tensor_core_command(int argc, char** argv);
int measure_command(int argc, char** argv);  ///< bench and gpu-check

}  // namespace tinymp::lab
