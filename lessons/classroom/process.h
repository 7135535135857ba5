#pragma once

#include <lessons/classroom/fence.h>
#include <tinymp/base/error.h>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Starting a program that may be anybody's: it gets so much time, memory and disk, and when it is over
/// nothing that it started lives on.
namespace tinymp::classroom {

struct Limits {
  double seconds = 60;                          ///< by the clock
  std::int64_t memory = std::int64_t{4} << 30;  ///< bytes of address space each process; in use by all
  std::int64_t file = std::int64_t{64} << 20;   ///< bytes of the largest file it may write
  std::function<bool()> unwanted{};             ///< asked many times a second; true: run() throws Unwanted
};

/// What was run has been ended, for nobody waits for it any more.
struct Unwanted : Error {
  using Error::Error;
};

struct Finished {
  int code = -1;   ///< its exit code; -1 when a signal ended it, or it could not be started
  int signal = 0;  ///< which signal
  bool out_of_time = false, out_of_memory = false;
  std::string output{};   ///< what it wrote to its output and error, the first 64 KiB
  std::string verdict{};  ///< what it wrote to file 3
};

/// From here on Ctrl-C ends what is run, and run() throws Error; asks interrupted(), where nothing is run.
void mind_interrupts();
bool interrupted();

/// `input` comes on standard input. Behind a fence it gets none of our environment; who may not write there
/// is not root either.
Finished run(const std::vector<std::string>& command, const Limits& limits, const std::string& input = "",
             const Place& place = {});

}  // namespace tinymp::classroom
