#pragma once

#include <lessons/lab/classroom/fence.h>
#include <lessons/lab/learn/process.h>
#include <tinymp/base/error.h>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Starting a program that may be anybody's: it gets so much time, memory and disk, and when it is over
/// nothing that it started lives on.
namespace tinymp::classroom {

struct Limits {
  double seconds = 60;  ///< of the processor, with all that it starts; on a busy machine it gets few of them
  double by_the_clock = 5 * seconds;            ///< ends what waits for ever
  std::int64_t memory = std::int64_t{4} << 30;  ///< bytes of address space each process; in use by all
  std::int64_t file = std::int64_t{64} << 20;   ///< bytes of the largest file it may write
  std::function<bool()> unwanted{};             ///< asked many times a second; true: run() throws Unwanted
};

/// What was run has been ended: its result is not wanted any more.
struct Unwanted : Error {
  using Error::Error;
};

struct Finished {
  int code = -1;   ///< its exit code; -1 when a signal ended it, or it could not be started
  int signal = 0;  ///< which signal
  bool out_of_time = false, out_of_memory = false;
  double computed = 0;   ///< seconds of the processor, as far as they were seen
  std::string output{};  ///< what it wrote to its output and error, the first 64 KiB
};

/// How a program talks with another one: `in` becomes its file 0, `out` its file 3.
struct Link {
  lab::Pipe in, out;
};

/// From here on Ctrl-C ends what is run, and run() throws Error; asks interrupted(), where nothing is run.
void install_signal_handlers();
bool interrupted();

/// Runs a program to its end; its standard input is empty. A fenced program gets an empty environment. Unless
/// the sandbox is writable it also drops root.
Finished run(const std::vector<std::string>& command, const Limits& limits, const Sandbox& sandbox = {});
/// The same, but its files 0 and 3 are the ends of `link` that a Companion has left open.
Finished run_linked(const std::vector<std::string>& command, const Limits& limits, Link& link,
                    const Sandbox& sandbox);

/// A program of our own that runs beside: it writes to link.in from its file 3 and reads link.out from its
/// file 4.
class Companion {
 public:
  /// Closes its ends of the link here. Throws Error when it cannot be started.
  Companion(std::vector<std::string> command, Link& link);
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;
  ~Companion();
  /// What it has written on standard output, once it has ended; after `seconds` it is ended.
  std::string output(double seconds);

 private:
  lab::Pipe out_;
  int process_ = -1;
};

}  // namespace tinymp::classroom
