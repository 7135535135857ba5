#pragma once

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <string>

/// A terminal that nobody looks at: what is written to fd() can be read back.
class PseudoTerminal {
 public:
  explicit PseudoTerminal(int columns) {
    master_ = posix_openpt(O_RDWR | O_NOCTTY);
    if (master_ < 0 || grantpt(master_) != 0 || unlockpt(master_) != 0) return;
    const char* name = ptsname(master_);
    if (name == nullptr) return;
    slave_ = ::open(name, O_RDWR | O_NOCTTY);
    resize(columns);
    fcntl(master_, F_SETFL, O_NONBLOCK);
  }
  ~PseudoTerminal() {
    if (slave_ >= 0) close(slave_);
    if (master_ >= 0) close(master_);
  }
  PseudoTerminal(const PseudoTerminal&) = delete;
  PseudoTerminal& operator=(const PseudoTerminal&) = delete;

  bool open() const { return slave_ >= 0 && isatty(slave_) == 1; }
  int fd() const { return slave_; }

  void resize(int columns, int rows = 24) const {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    ioctl(slave_, TIOCSWINSZ, &size);
  }

  /// All that was written since the last call. The terminal turns "\n" into "\r\n".
  std::string read_back() const {
    std::string text;
    char buffer[4096];
    for (ssize_t n; (n = ::read(master_, buffer, sizeof buffer)) > 0;) {
      text.append(buffer, static_cast<std::size_t>(n));
    }
    return text;
  }

 private:
  int master_ = -1, slave_ = -1;
};
