#pragma once

#include <lessons/lab/learn/lab.h>

/// The commands of the program learn, one file each. argv[0] is the command itself; they return the exit
/// code.
namespace tinymp::lab {

inline constexpr Lesson compare_lesson{"compare", "Recorded runs side by side",
                                       "Table, curves and page over runs that were recorded."};

int overview(bool plain);  ///< ./learn alone; plain: ASCII without colour
int train_command(int argc, char** argv);
int explain_command(int argc, char** argv);
int memory_command(int argc, char** argv);
int verify_all(int argc, char** argv);
int compare(int argc, char** argv);
int runs_command(int argc, char** argv);
int predict_command(int argc, char** argv);
int tensor_core_command(int argc, char** argv);
int convert_command(int argc, char** argv);
int scale_trace_command(int argc, char** argv);

}  // namespace tinymp::lab
