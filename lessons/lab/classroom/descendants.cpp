#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lessons/lab/classroom/descendants.h>
#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

/// The fields of /proc/N/stat after the name: state, parent, ... The name may hold spaces and brackets.
std::vector<std::string> stat_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream words(line.substr(name_end + 1));
  return {std::istream_iterator<std::string>(words), {}};
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  std::error_code failed;
  for (fs::directory_iterator i("/proc", failed), end; !failed && i != end; i.increment(failed)) {
    const std::string name = i->path().filename();
    pid_t process = 0;
    const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (error == std::errc() && rest == name.data() + name.size()) found.push_back(process);
  }
  return found;
}

}  // namespace

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); }

std::vector<pid_t> descendants() { return descendants(getpid()); }

std::vector<pid_t> descendants(pid_t of) {
  std::multimap<pid_t, pid_t> children;
  for (const pid_t process : all_processes()) {
    const std::vector<std::string> stat = stat_of(process);
    if (stat.size() > 1) children.emplace(std::atoi(stat[1].c_str()), process);
  }
  std::vector<pid_t> found{of};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

std::int64_t memory_of(const std::vector<pid_t>& processes) {
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  std::int64_t bytes = 0;
  for (const pid_t process : processes) {
    std::ifstream file("/proc/" + std::to_string(process) + "/statm");
    std::int64_t all = 0, resident = 0;
    if (file >> all >> resident) bytes += page * resident;
  }
  return bytes;
}

double seconds_of(const std::vector<pid_t>& processes) {
  std::int64_t ticks = 0;
  for (const pid_t process : processes) {
    const std::vector<std::string> fields = stat_of(process);
    // Fields 11 to 14: user and system time of the process, then user and system time of its ended children.
    for (std::size_t i = 11; i < 15 && i < fields.size(); ++i) ticks += std::atoll(fields[i].c_str());
  }
  return static_cast<double>(ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

void end_descendants_but(const std::vector<pid_t>& others) {
  for (int round = 0; round < 500; ++round) {
    std::vector<pid_t> left = descendants();
    std::erase_if(left, [&](pid_t process) { return std::ranges::count(others, process) != 0; });
    if (left.empty()) return;
    // SIGSTOP goes first to all: a process that starts others faster than they are ended would never be done.
    for (const int signal : {SIGSTOP, SIGKILL})
      for (const pid_t process : left) kill(process, signal);
    for (const pid_t process : left) waitpid(process, nullptr, WNOHANG);
    usleep(2000);
  }
}

std::int64_t threads_of_user(uid_t user) {
  std::int64_t threads = 0;
  for (const pid_t process : all_processes()) {
    struct stat about {};
    if (stat(("/proc/" + std::to_string(process)).c_str(), &about) != 0 || about.st_uid != user) continue;
    const std::vector<std::string> fields = stat_of(process);
    if (fields.size() > 17) threads += std::atoll(fields[17].c_str());
  }
  return threads;
}

}  // namespace tinymp::classroom
