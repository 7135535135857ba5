#include <fmt/format.h>
#include <lessons/02_matmul/show.h>
#include <lessons/lab/learn/process.h>
#include <tinymp/base/error.h>
#include <filesystem>
#include <map>
#include <sstream>
#include <vector>

// Shortens ThreadSanitizer's report on race_02 to the threads, the lines and the variable of the race.
namespace tinymp::lab {
namespace {

#if defined(TINYMP_RACE_PROGRAM)

const std::string in_lucky_order = "TINYMP_THREAD_ORDER=reverse";

std::string report() {
  const std::string said = run({"env", in_lucky_order, TINYMP_RACE_PROGRAM}, Messages::in_output).output;
  // An old sanitizer on a system that puts memory in more places than it knows of.
  const bool too_old = said.find("unexpected memory mapping") != std::string::npos;
  if (!too_old) return said;
  return run({"env", in_lucky_order, "setarch", "-R", TINYMP_RACE_PROGRAM}, Messages::in_output).output;
}

/// The first text between two others, or nothing.
std::string between(const std::string& line, const std::string& before, const std::string& after) {
  const std::size_t begin = line.find(before);
  if (begin == std::string::npos) return "";
  const std::size_t end = line.find(after, begin + before.size());
  return line.substr(begin + before.size(), end - begin - before.size());
}

struct Access {
  std::string what, thread, where;
};

/// A report has a paragraph for each of two accesses, with the calls that led there, and names threads later
/// on.
std::string in_short(const std::string& report) {
  std::vector<Access> accesses;
  std::map<std::string, std::string> names;
  std::string array, line;
  for (std::istringstream lines(report); std::getline(lines, line);) {
    if (line.find(" of size ") != std::string::npos && line.find(" by thread ") != std::string::npos) {
      accesses.push_back({line.substr(2, line.find(" at 0x") - 2), between(line, " by thread ", ":"), ""});
    } else if (line.rfind("  Location is ", 0) == 0) {
      array = between(line.substr(line.rfind("::")), "::", "'");
    } else if (line.rfind("  Thread T", 0) == 0) {
      names[between(line, "Thread ", " ")] = between(line, "'", "'");
    } else if (!accesses.empty() && accesses.back().where.empty() && names.empty()) {
      const std::string place = between(line, "lessons/02_matmul/matmul.cuh", " ");
      if (!place.empty()) accesses.back().where = "lessons/02_matmul/matmul.cuh" + place;
    }
  }
  if (accesses.size() != 2) return "";
  std::string text = fmt::format("ThreadSanitizer: data race on `{}`\n", array);
  for (const Access& a : accesses)
    text += fmt::format("  {:<26}{:<18}{}\n", a.what, names[a.thread], a.where);
  return text;
}

#endif

}  // namespace

void name_the_race(Lab& lab) {
#if defined(TINYMP_RACE_PROGRAM)
  const std::string said = report(), text = in_short(said);
  lab.say(text.empty() ? concat("\n", said, "\nThreadSanitizer does not run on this machine.\n")
                       : concat("\nIn reverse order, where the result is right:\n", text));
  const std::string program = std::filesystem::proximate(TINYMP_RACE_PROGRAM).string();
  lab.say(concat("The whole report: ", in_lucky_order, " ", program, "\n"));
#else
  lab.say("\nThreadSanitizer knows, but follows emulated threads with g++ only: CXX=g++ ./learn run 2\n");
#endif
}

}  // namespace tinymp::lab
