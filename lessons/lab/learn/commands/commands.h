#pragma once

/// The commands of the program learn, one file each. argv[0] is the command itself; they return the exit
/// code.
namespace tinymp::lab {

int overview(bool plain);  ///< ./learn alone; plain: ASCII without colour
int train_command(int argc, char** argv);
int explain_command(int argc, char** argv);
int verify_all(int argc, char** argv);
int compare(int argc, char** argv);
int runs_command(int argc, char** argv);
int tensor_core_command(int argc, char** argv);

}  // namespace tinymp::lab
