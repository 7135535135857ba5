#pragma once

namespace tinymp::lab {

/// While it lives, the first Ctrl-C, SIGTERM, SIGUSR1 or SIGHUP (the terminal is closed) is noted and the program goes
/// on; a second one ends the program.
class InterruptNote {
 public:
  InterruptNote();  ///< one at a time
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;
  static bool seen();      ///< since the note was made
  static int exit_code();  ///< as a shell counts what the signal ended: 130 after Ctrl-C, 143 after SIGTERM
};

}  // namespace tinymp::lab
