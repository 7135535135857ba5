#include <unistd.h>

#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/siblings.h>
#include <tinymp/base/error.h>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

// What other programs do: quickstart, ./learn clinic and check clinic the clinic's, check N, watch, hint,
// solution and reset that of the exercises.
namespace tinymp::lab {
namespace {

[[noreturn]] void become(const char* name, int argc, char** argv) {
  std::string program = own_folder() / name;
  std::vector<char*> arguments{program.data()};
  arguments.insert(arguments.end(), argv, argv + argc);
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw Error(concat("cannot start ", program, ": ", std::strerror(errno), "; ./learn ", name, " builds it"));
}

}  // namespace

int quickstart_command(int argc, char** argv) { become("quickstart", argc - 1, argv + 1); }

int clinic_command(int argc, char** argv) { become("clinic", argc, argv); }

int exercise_command(int argc, char** argv) {
#if !defined(__linux__)
  throw MissingError(concat("./learn ", argv[0],
                            " wants Linux, whose kernel holds a check within its limits: in a container "
                            "or a virtual machine it runs on other systems, too"));
#endif
  become("classroom", argc, argv);
}

int check_command(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  return what == "clinic" ? clinic_command(argc, argv) : exercise_command(argc, argv);
}

}  // namespace tinymp::lab
