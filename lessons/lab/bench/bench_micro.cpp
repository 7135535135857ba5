#include <unistd.h>

#include <lessons/lab/bench/measure.h>
#include <lessons/lab/learn/siblings.h>
#include <tinymp/base/error.h>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

// ./learn bench micro: hands over to the program that Google Benchmark drives.
namespace tinymp::lab {

int bench_micro(int argc, char** argv) {
  std::string program = own_folder() / "microbench";
  std::vector<char*> arguments{program.data()};
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) != "--") arguments.push_back(argv[i]);
  }
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  if (errno == ENOENT)
    throw MissingError("the microbenchmarks are not built; ./learn bench micro builds them");
  throw Error(concat("cannot start ", program, ": ", std::strerror(errno)));
}

}  // namespace tinymp::lab
