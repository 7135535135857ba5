#pragma once

/// Measurements on a GPU are a program of their own: who only trains need not wait for it to be compiled.
namespace tinymp::lab {

// argv[0] is the command itself; each returns the exit code.
int bench_command(int argc, char** argv);
int gpu_check_command(int argc, char** argv);

}  // namespace tinymp::lab
