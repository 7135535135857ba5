#include <unistd.h>

#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/siblings.h>
#include <tinymp/base/error.h>
#include <cerrno>
#include <cstring>
#include <vector>

// ./learn bench, ./learn gpu-check: hands over to the program that measures.
namespace tinymp::lab {

int measure_command(int argc, char** argv) {
  std::string program = own_folder() / "measure";
  std::vector<char*> arguments{program.data()};
  arguments.insert(arguments.end(), argv, argv + argc);
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw Error(
      concat("cannot start ", program, ": ", std::strerror(errno), "; ./learn ", argv[0], " builds it"));
}

}  // namespace tinymp::lab
