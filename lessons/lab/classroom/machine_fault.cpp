#include <sys/resource.h>

#include <lessons/lab/classroom/machine_fault.h>
#include <tinymp/base/error.h>
#include <csignal>
#include <cstring>
#include <sstream>

namespace tinymp::classroom {
namespace {

constexpr int cannot_start = 127;

/// Whether the line reports a fault of the machine, in the words of g++, clang++, the assembler or the
/// linkers. The last two entries report a missing object of the library. A line that quotes the learner's
/// text does not count: a compiler shows such a line behind a bar, with the strings in quotes, or for a
/// static_assert.
bool is_of_the_machine(const std::string& line) {
  for (const char* const of_the_text : {" | ", "\"", "static"})
    if (line.find(of_the_text) != std::string::npos) return false;
  for (const char* const words :
       {"bwrap: ", "annot create temporary file", "unable to make temporary file", "No space left on device",
        "cannot open output file", "can't create", "cannot execute", "error trying to exec",
        "error while loading shared libraries", "Killed signal terminated program", "Too many open files",
        "Resource temporarily unavailable", "thin archive member", "could not get the buffer for the member"})
    if (line.find(words) != std::string::npos) return true;
  return false;
}

}  // namespace

std::string machine_fault(const Finished& compiler) {
  if (compiler.code == 0 || compiler.out_of_time || compiler.out_of_memory) return "";
  rlimit files{};
  if (getrlimit(RLIMIT_FSIZE, &files) == 0 && files.rlim_cur < static_cast<rlim_t>(Limits{}.file) &&
      compiler.output.find("File size limit exceeded") != std::string::npos)
    return "it may write no longer file: look at ulimit -f";
  std::istringstream lines(compiler.output);
  for (std::string line; std::getline(lines, line);)
    if (is_of_the_machine(line)) return line;
  if (compiler.code == cannot_start) return compiler.output.empty() ? "it cannot start" : compiler.output;
  if (compiler.signal == SIGKILL || compiler.signal == SIGTERM)
    return concat("it was ended: ", strsignal(compiler.signal));
  return "";
}

}  // namespace tinymp::classroom
