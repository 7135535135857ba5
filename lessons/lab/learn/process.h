#pragma once

#include <sys/types.h>
#include <tinymp/base/error.h>
#include <array>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Starting other programs: all that do so call start(), run() or exec_program().
namespace tinymp::lab {

/// A file that closes itself, and that no program inherits but as one of Start::files; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  explicit Descriptor(const char* path, int flags);  ///< as open(), with rights 0644
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { reset(); }
  int file() const { return file_; }
  void reset();  ///< closes it now

 private:
  int file_;
};

/// A pipe. Its ends close themselves, and no program inherits them but as one of Start::files.
struct Pipe {
  std::array<int, 2> ends{-1, -1};  ///< 0: to read from, 1: to write to
  Pipe();
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe();
  void close_end(std::size_t i);
};

/// A program, and what it starts with.
struct Start {
  std::vector<std::string> command;  ///< the program, along PATH when its name holds no /; its arguments
  std::vector<std::pair<int, int>>
      files{};                 ///< {1, pipe.ends[1]}: the program's file, and which one of ours it is
  bool closes_others = false;  ///< no other file of ours is open in the program
  std::optional<std::vector<std::string>> environment{};  ///< "NAME=value"; empty: ours
  /// Called in the child, right before the program: limits, another user. It may not allocate, for another
  /// thread may have held the heap's lock at the fork. Returns what it could not do, "enter the folder"; null
  /// when all is done.
  std::function<const char*()> prepare{};
};

/// The child has not become the program: "cannot start cmake: No such file or directory".
struct CannotStart : Error {
  CannotStart(const std::string& what, const std::string& why)
      : Error(concat("cannot ", what, ": ", why)), reason(why) {}
  std::string reason;  ///< "No such file or directory"
};

/// Starts a program and returns its process. Throws CannotStart; Error when there can be no other process.
pid_t start(const Start& program);

/// Waits until `process` ends. Its exit code, or 128 + the signal that ended it, as shells say it.
int wait_for(pid_t process);

struct Ended {
  int code = -1;         ///< as wait_for() says it; -1: it could not be started
  std::string output{};  ///< what it wrote to its standard output
};
enum class Messages { shown, hidden, in_output };  ///< where standard error goes
Ended run(const std::vector<std::string>& command, Messages messages = Messages::shown);

/// The program takes the place of this one. Throws MissingError when there is no such program and Error when
/// it cannot be started; both end in `how_to_get_it`.
[[noreturn]] void exec_program(const std::vector<std::string>& command, const std::string& how_to_get_it);

}  // namespace tinymp::lab
