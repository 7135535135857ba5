#include <unistd.h>

#include <lessons/learn/commands/commands.h>
#include <lessons/learn/siblings.h>
#include <tinymp/base/error.h>
#include <cerrno>
#include <cstring>
#include <vector>

// ./learn clinic and ./learn check clinic: hand over to the clinic's program.
namespace tinymp::lab {

int clinic_command(int argc, char** argv) {
  std::string program = own_folder() / "clinic";
  std::vector<char*> arguments{program.data()};
  arguments.insert(arguments.end(), argv, argv + argc);
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  throw Error(concat("cannot start ", program, ": ", std::strerror(errno), "; ./learn clinic builds it"));
}

int check_command(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "clinic") return clinic_command(argc, argv);
  throw UsageError(what.empty() || what == "--help"
                       ? "check what? ./learn check clinic"
                       : concat("there is no '", what, "' to check; ./learn check clinic"));
}

}  // namespace tinymp::lab
