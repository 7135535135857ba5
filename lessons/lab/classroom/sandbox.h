#pragma once

#include <lessons/lab/classroom/fence.h>
#include <lessons/lab/learn/process.h>
#include <tinymp/base/error.h>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Starts a program of unknown origin. It gets a limited time, memory and disk, and when it has ended, every
/// process that it started is ended, too.
namespace tinymp::classroom {

struct Limits {
  double seconds = 60;                ///< of the processor, of the program and all that it starts
  double by_the_clock = 5 * seconds;  ///< ends a program that waits for ever
  /// Bytes: address space of each process; behind a fence also memory in use by all of them together.
  std::int64_t memory = std::int64_t{4} << 30;
  std::int64_t file = std::int64_t{64} << 20;  ///< bytes of the largest file it may write
  std::function<bool()> unwanted{};            ///< asked many times a second; true: run() throws Unwanted
};

/// Thrown when run() has ended the program because its result is not wanted any more.
struct Unwanted : Error {
  using Error::Error;
};

struct Finished {
  int code = -1;   ///< its exit code; -1 when a signal ended it, 127 when it could not start
  int signal = 0;  ///< the signal that ended it
  bool out_of_time = false, out_of_memory = false;
  double computed = 0;   ///< processor seconds, as far as they were seen
  std::string output{};  ///< its standard output and error, the first 64 KiB
};

/// The pipes between two programs: `in` becomes file 0 of one, `out` its file 3.
struct Link {
  lab::Pipe in, out;
};

/// After install_signal_handlers() Ctrl-C ends the program that run() runs, and run() throws Error. Code
/// outside run() asks interrupted().
void install_signal_handlers();
bool interrupted();

/// Runs a program to its end, with an empty standard input. A fenced program gets an empty environment except
/// PATH, LC_ALL and TMPDIR. Unless the sandbox is writable it also drops root.
Finished run(const std::vector<std::string>& command, const Limits& limits, const Sandbox& sandbox = {});
/// The same, but its files 0 and 3 are the ends of `link` that a Companion has left open.
Finished run_linked(const std::vector<std::string>& command, const Limits& limits, Link& link,
                    const Sandbox& sandbox);

/// A program of ours that runs beside another: it writes to link.in from its file 3 and reads link.out from
/// its file 4.
class Companion {
 public:
  /// Starts the program, and closes its ends of the link in this process. Throws Error when it cannot start.
  Companion(std::vector<std::string> command, Link& link);
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  ~Companion();
  /// Returns its standard output, once it has ended or `seconds` have passed.
  std::string output(double seconds);

 private:
  lab::Pipe out_;
  int process_ = -1;
};

}  // namespace tinymp::classroom
