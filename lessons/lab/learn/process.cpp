#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lessons/lab/learn/process.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>

extern char** environ;

namespace tinymp::lab {
namespace {

constexpr int out_of_the_way = 20;  // the files of a program have smaller numbers

/// What the child says before it ends. The text was there before the fork, so the pointer holds in both.
struct Failure {
  int error = 0;
  const char* what = nullptr;
};

/// As exec wants them; `words` outlives it.
std::vector<char*> pointers_to(const std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (const std::string& word : words) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// All that the child needs, made before the fork: the child allocates nothing.
struct Child {
  explicit Child(const Start& program)
      : start(program), words(pointers_to(program.command)), moved(program.files.size()) {
    if (start.environment) environment = pointers_to(*start.environment);
    for (const auto& [its, ours] : start.files) last_file = std::max(last_file, its);
    what = concat("start ", start.command.front());
  }
  const Start& start;
  std::vector<char*> words, environment{};
  std::vector<int> moved;  ///< copies of start.files, out of the way of one another
  int last_file = 2;
  std::string what;
};

void close_from(int first) {
#if defined(__linux__)
  constexpr long close_range = 436;
  if (syscall(close_range, static_cast<unsigned>(first), ~0u, 0) == 0) return;
#endif
  for (int file = first; file < 1024; ++file) close(file);
}

/// Gives the child its files. The report stays open, behind them.
void arrange_files(Child& child, int& report) {
  const auto& files = child.start.files;
  for (std::size_t i = 0; i < files.size(); ++i)
    child.moved[i] = fcntl(files[i].second, F_DUPFD_CLOEXEC, out_of_the_way);
  report = fcntl(report, F_DUPFD_CLOEXEC, out_of_the_way);
  for (std::size_t i = 0; i < files.size(); ++i) dup2(child.moved[i], files[i].first);
  if (!child.start.closes_others) return;
  for (int file = 0; file <= child.last_file; ++file)
    if (std::ranges::find(files, file, &std::pair<int, int>::first) == files.end()) close(file);
  const int behind = child.last_file + 1;
  dup2(report, behind);
  fcntl(behind, F_SETFD, FD_CLOEXEC);
  report = behind;
  close_from(behind + 1);
}

[[noreturn]] void give_up(int report, const char* what) {
  const Failure failure{errno, what};
  [[maybe_unused]] const ssize_t written = write(report, &failure, sizeof failure);
  _exit(127);
}

[[noreturn]] void become_program(Child& child, int report) {
  arrange_files(child, report);
  if (child.start.prepare)
    if (const char* const what = child.start.prepare()) give_up(report, what);
  if (!child.start.environment) {
    execvp(child.words[0], child.words.data());
  } else {
#if defined(__linux__)
    execvpe(child.words[0], child.words.data(), child.environment.data());  // along our PATH
#else
    environ = child.environment.data();
    execvp(child.words[0], child.words.data());
#endif
  }
  give_up(report, child.what.c_str());
}

/// All that can be read until the other end is closed.
std::string read_all(int file) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const ssize_t n = read(file, piece.data(), piece.size());
    if (n > 0) text.append(piece.data(), static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) return text;  // a signal, SIGWINCH say, is no end
  }
}

}  // namespace

Descriptor::Descriptor(const char* path, int flags) : file_(open(path, flags | O_CLOEXEC, 0644)) {}

void Descriptor::reset() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

Pipe::Pipe() {
#if defined(__linux__)
  const bool made = pipe2(ends.data(), O_CLOEXEC) == 0;
#else
  const bool made = pipe(ends.data()) == 0;
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
#endif
  expect(made, "cannot make a pipe: ", std::strerror(errno));
}

Pipe::~Pipe() {
  close_end(0);
  close_end(1);
}

void Pipe::close_end(std::size_t i) {
  if (ends[i] >= 0) close(ends[i]);
  ends[i] = -1;
}

pid_t start(const Start& program) {
  Child child(program);
  Pipe report;
  const pid_t process = fork();
  if (process < 0) throw Error(concat("cannot ", child.what, ": ", std::strerror(errno)));
  if (process == 0) become_program(child, report.ends[1]);
  report.close_end(1);
  const std::string said = read_all(report.ends[0]);  // nothing, once the program has begun
  Failure failure;
  if (said.size() != sizeof failure) return process;
  std::memcpy(&failure, said.data(), sizeof failure);
  wait_for(process);
  throw CannotStart(failure.what, std::strerror(failure.error));
}

int wait_for(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

Ended run(const std::vector<std::string>& command, Messages messages) {
  Pipe output;
  Start program{.command = command, .files = {{STDOUT_FILENO, output.ends[1]}}};
  if (messages == Messages::in_output) program.files.emplace_back(STDERR_FILENO, output.ends[1]);
  const Descriptor nowhere("/dev/null", O_WRONLY);
  if (messages == Messages::hidden) program.files.emplace_back(STDERR_FILENO, nowhere.file());
  try {
    const pid_t process = start(program);
    output.close_end(1);
    std::string text = read_all(output.ends[0]);
    return {wait_for(process), std::move(text)};
  } catch (const Error&) {
    return {};
  }
}

void exec_program(const std::vector<std::string>& command, const std::string& how_to_get_it) {
  std::cout.flush();
  execvp(command.front().c_str(), pointers_to(command).data());
  const int error = errno;
  const std::string why =
      concat("cannot start ", command.front(), ": ", std::strerror(error), "; ", how_to_get_it);
  if (error == ENOENT) throw MissingError(why);
  throw Error(why);
}

}  // namespace tinymp::lab
