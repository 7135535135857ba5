#include <fcntl.h>
#include <lessons/lab/bench/pytorch.h>
#include <lessons/lab/bench/race.h>
#include <lessons/lab/learn/process.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <tinymp/base/error.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace tinymp::kernels::bench {
namespace {

using Json = nlohmann::ordered_json;

#if defined(MSG_NOSIGNAL)
constexpr int quietly = MSG_NOSIGNAL;  // a child that has ended is an error to report, not a signal to die by
#else
constexpr int quietly = 0;
#endif

constexpr const char* cannot_start = "it cannot be started: ";

/// Starts `python pytorch.py` with its standard input and output at the other end of `channel`. Throws Error.
pid_t spawn(const std::string& python, int& channel) {
  int ends[2];
  expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, cannot_start, std::strerror(errno));
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
#if defined(SO_NOSIGPIPE)
  const int on = 1;
  setsockopt(ends[0], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
  const lab::Descriptor its(ends[1]), nowhere("/dev/null", O_WRONLY);
  channel = ends[0];
  try {
    return lab::start(
        {.command = {python, TINYMP_BENCH_PYTORCH},
         .files = {
             {STDIN_FILENO, its.file()}, {STDOUT_FILENO, its.file()}, {STDERR_FILENO, nowhere.file()}}});
  } catch (const lab::CannotStart& error) {
    throw Error(concat(cannot_start, error.reason));
  }
}

/// The wheel of PyPI is for CUDA, and is larger by gigabytes.
std::string how_to_get_it(Device device) {
  return concat("in a folder of your own: python3 -m venv torch && torch/bin/pip install torch",
                device == Device::cpu ? " --index-url https://download.pytorch.org/whl/cpu" : "",
                ", then TINYMP_PYTHON=torch/bin/python before the command");
}

}  // namespace

PyTorch::PyTorch(int threads, Device device) {
  const std::string hello = concat("hello ", threads, " ", device);
  if (const char* const wish = std::getenv("TINYMP_PYTHON")) {
    if (!start(wish, hello)) why_not_ = concat("TINYMP_PYTHON=", wish, ": ", why_not_);
    return;
  }
  std::string reasons;
  for (const char* python : {"python3", "python"}) {
    if (start(python, hello)) return;
    reasons += concat(reasons.empty() ? "" : "; ", python, ": ", why_not_);
  }
  why_not_ = concat("no Python here has it (", reasons, "); ", how_to_get_it(device));
}

PyTorch::~PyTorch() { stop(); }

bool PyTorch::start(const std::string& python, const std::string& hello) {
  why_not_.clear();
  try {
    child_ = spawn(python, channel_);
    wait_at_most(patience_);
    about_ = ask(hello);
    for (const char* name : {"version", "built with"}) value_of<std::string>(about_, hello, name);
    value_of<int>(about_, hello, "threads");
    return true;
  } catch (const Error& error) {
    why_not_ = error.what();
    stop();
    return false;
  }
}

void PyTorch::stop() {
  if (channel_ >= 0) close(channel_);  // its input ends, and then it ends
  while (child_ > 0 && waitpid(child_, nullptr, 0) < 0 && errno == EINTR) {
  }
  channel_ = -1;
  child_ = 0;
  received_.clear();  // the next process has said nothing yet
}

void PyTorch::wait_at_most(int seconds) {
  patience_ = seconds;
  const timeval most{.tv_sec = seconds, .tv_usec = 0};
  if (channel_ >= 0) setsockopt(channel_, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
}

Json PyTorch::ask(const std::string& request) {
  expect(channel_ >= 0, "PyTorch: ", why_not_);
  std::string line;
  send_line(request + "\n");  // a process that has ended may have said why
  do {
    if (receive_line(line)) continue;
    const bool late = errno == EAGAIN || errno == EWOULDBLOCK;
    if (late) {               // its answer would be taken for that of the next request
      kill(child_, SIGKILL);  // busy, it would not see that its input ends
      stop();
      why_not_ = concat("no answer to '", request, "' within ", patience_, " s");
      throw Error(concat("PyTorch: ", why_not_));
    }
    throw Error(concat("PyTorch's process has ended without an answer to '", request, "'"));
  } while (line.empty() || line[0] != '{');  // skips messages that libraries print
  const Json answer = Json::parse(line, nullptr, false);
  expect(answer.is_object(), "PyTorch's process answers '", request, "' with what is no JSON: ", line);
  if (answer.contains("error"))
    throw Error(concat("PyTorch, ", request, ": ", value_of<std::string>(answer, request, "error")));
  return answer;
}

double PyTorch::seconds(const std::string& request) {
  wait_for_threads();
  return ask<double>(request, "seconds");
}

void PyTorch::send_line(const std::string& line) {
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t n = send(channel_, line.data() + sent, line.size() - sent, quietly);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;
    sent += static_cast<std::size_t>(n);
  }
}

bool PyTorch::receive_line(std::string& line) {
  std::size_t end;
  while ((end = received_.find('\n')) == std::string::npos) {
    std::array<char, 4096> piece;
    const ssize_t n = recv(channel_, piece.data(), piece.size(), 0);
    if (n < 0 && errno == EINTR) continue;
    if (n == 0) errno = 0;
    if (n <= 0) return false;
    received_.append(piece.data(), static_cast<std::size_t>(n));
  }
  line = received_.substr(0, end);
  received_.erase(0, end + 1);
  return true;
}

}  // namespace tinymp::kernels::bench
