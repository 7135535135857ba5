#include <lessons/lab/bench/measure.h>
#include <lessons/lab/learn/command_line.h>
#include <tinymp/base/error.h>
#include <string>

// ./learn bench and ./learn gpu-check: learn starts this program for them.
int main(int argc, char** argv) {
  using namespace tinymp;
  return lab::guarded([&] {
    const std::string command = argc > 1 ? argv[1] : "";
    if (command == "bench") return lab::bench_command(argc - 1, argv + 1);
    if (command == "gpu-check") return lab::gpu_check_command(argc - 1, argv + 1);
    throw UsageError("this program measures: bench or gpu-check, by way of ./learn");
  });
}
