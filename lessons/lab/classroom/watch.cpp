#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <fmt/format.h>
#include <lessons/lab/classroom/attempt.h>
#include <lessons/lab/classroom/commands.h>
#include <lessons/lab/classroom/files.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/waiting.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/terminal.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <ctime>
#include <iostream>
#include <optional>

// ./learn watch: judges a file each time it is saved. It reads the text itself several times a second. That
// works where a file system sends no events (WSL, network mounts), and however an editor saves.
namespace tinymp::classroom {
namespace {

constexpr int milliseconds_between_looks = 200;

/// Makes keys arrive one by one, without Enter, while the object lives. Does nothing without a terminal.
class Keys {
 public:
  Keys() : on_(isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &before_) == 0) {
    if (!on_) return;
    termios now = before_;
    now.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    tcsetattr(STDIN_FILENO, TCSANOW, &now);
  }
  Keys(const Keys&) = delete;
  Keys& operator=(const Keys&) = delete;
  ~Keys() {
    if (on_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  bool on() const { return on_; }
  /// Waits for a key, 200 ms at most; 0: no key was pressed.
  char wait() const {
    pollfd input{on_ ? STDIN_FILENO : -1, POLLIN, 0};
    if (poll(&input, 1, milliseconds_between_looks) <= 0) return 0;
    char key = 0;
    return read(STDIN_FILENO, &key, 1) == 1 ? key : 'q';  // the terminal is gone
  }

 private:
  termios before_{};
  bool on_;
};

/// "12:03:45"
std::string clock_time() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  return fmt::format("{:02}:{:02}:{:02}", local.tm_hour, local.tm_min, local.tm_sec);
}

/// Watches the file of an exercise, and keeps the text that was judged last.
class FileWatcher {
 public:
  FileWatcher(Exercise exercise, const Workbook& workbook, lab::Progress& progress)
      : exercise_(std::move(exercise)), workbook_(workbook), progress_(progress) {}

  /// An editor may empty a file before it writes it, so an empty file is not judged.
  bool saved() const {
    const std::string now = text();
    return now != judged_ && !now.empty();
  }
  /// Judges the current text and returns whether it passes. Empty when another text was saved meanwhile.
  std::optional<bool> look() {
    workbook_.begin(exercise_);
    judged_ = text();
    try {
      const Attempt made = judged_aloud();
      std::cout << heading(made.verdict.passed()) << "\n"
                << describe(exercise_, made, workbook_) << std::flush;
      return made.verdict.passed();
    } catch (const Unwanted&) {
      return {};
    }
  }
  /// Takes the current text as judged.
  void skip() { judged_ = text(); }
  const Exercise& exercise() const { return exercise_; }

 private:
  Attempt judged_aloud() {
    Waiting waiting(exercise_.number());
    return attempt(exercise_, workbook_, progress_, {.unwanted = [this, &waiting] {
                     waiting.tick();
                     return saved();
                   }});
  }
  /// The line above an attempt: "---- 12:03:45 attempt 3 of 1.2 passed ----"
  std::string heading(bool passed) {
    const report::TerminalStyle style = report::terminal_style(STDOUT_FILENO);
    const std::string words =
        fmt::format("{}  attempt {} of {}  ", clock_time(), ++looks_, exercise_.number());
    const std::string verdict = passed ? "passed" : "not yet";
    const std::string dash = style.unicode ? "─" : "-";
    const int rest = std::max(0, std::min(style.width, 100) - report::display_width(words + verdict) - 6);
    std::string rule = "\n" + dash + dash + " " + words;
    rule += style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", passed ? "1;32" : "1;31", verdict) : verdict;
    rule += " ";
    for (int i = 0; i < rest; ++i) rule += dash;
    return rule + "\n";
  }
  std::string text() const {
    try {
      return read_file(workbook_.path(exercise_));
    } catch (const std::exception&) {
      return judged_;  // an editor is replacing the file: the next look finds it
    }
  }
  Exercise exercise_;
  const Workbook& workbook_;
  lab::Progress& progress_;
  std::string judged_;
  int looks_ = 0;
};

/// The exercise that `which` names, or the next one that has not passed.
Exercise first_of(const std::string& which, const lab::Progress& progress) {
  const std::vector<Exercise> meant = which.empty() ? exercises() : exercises_named(which);
  const Exercise* const next = next_of(meant, progress);
  return next == nullptr ? meant.front() : *next;
}

void give_hint(const Exercise& exercise) {
  const std::string number = exercise.number();
  const std::array<const char*, 2> words{"hint", number.c_str()};
  std::cout << "\n";
  hint(2, words.data());
}

void prompt(const FileWatcher& watcher, const Workbook& workbook, const lab::Progress& progress,
            const Keys& keys) {
  const std::vector<Exercise> all = exercises();
  const auto passed = std::ranges::count_if(all, [&](const Exercise& e) { return has_passed(e, progress); });
  std::cout << lab::fitted(fmt::format("\nWatching {}   {} of {} pass\n{}",
                                       shown(workbook.path(watcher.exercise())), passed, all.size(),
                                       keys.on() ? "h: a hint   n: the next exercise   q: ends\n" : ""))
            << std::flush;
}

}  // namespace

int watch(int argc, const char* const* argv) {
  std::string which;
  bool once = false;
  CLI::App app("Judges your file each time you save it.", "./learn watch");
  app.add_option("N", which,
                 "1.2: an exercise, by number or name; 1: a chapter (the next that does not pass)");
  app.add_flag("--once", once, "Waits for one save, and ends with the exit code of check");
  if (const std::optional<int> code = lab::parse(app, argc, argv)) return *code;

  const Workbook workbook(workbook_folder());
  lab::Progress progress(lab::progress_path());
  const Keys keys;
  std::optional<FileWatcher> watcher(std::in_place, first_of(which, progress), workbook, progress);
  workbook.begin(watcher->exercise());
  if (once) {
    watcher->skip();
  } else {
    watcher->look();
  }
  prompt(*watcher, workbook, progress, keys);
  for (;;) {
    const char key = keys.wait();
    if (interrupted()) return 130;
    if (key == 'q') return 0;
    if (key == 'h') give_hint(watcher->exercise());
    if (key == 'n') {
      const std::vector<Exercise> all = exercises();
      const Exercise* const next = next_after(watcher->exercise(), all, progress);
      if (!next) {
        std::cout << "\nAll exercises pass. Train with them: ./learn run 7 --mine\n";
        return 0;
      }
      watcher.emplace(*next, workbook, progress);
      watcher->look();
      prompt(*watcher, workbook, progress, keys);
    }
    if (!watcher->saved()) continue;
    const std::optional<bool> passes = watcher->look();
    if (!passes) continue;
    if (once) return *passes ? 0 : 1;
    prompt(*watcher, workbook, progress, keys);
  }
}

}  // namespace tinymp::classroom
