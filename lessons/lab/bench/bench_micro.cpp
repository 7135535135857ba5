#include <lessons/lab/bench/measure.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <string_view>
#include <vector>

// ./learn bench micro: starts the program that uses Google Benchmark.
namespace tinymp::lab {

int bench_micro(int argc, char** argv) {
  std::vector<std::string> command{(own_folder() / "microbench").string()};
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) != "--") command.emplace_back(argv[i]);
  exec_program(command, "./learn bench micro builds them");
}

}  // namespace tinymp::lab
