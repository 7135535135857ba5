#pragma once

namespace tinymp::lab {

/// While it lives, the first Ctrl-C is noted and the program goes on; a second one ends the program.
class InterruptNote {
 public:
  InterruptNote();  ///< one at a time
  ~InterruptNote();
  InterruptNote(const InterruptNote&) = delete;
  InterruptNote& operator=(const InterruptNote&) = delete;
  static bool seen();  ///< since the note was made
};

}  // namespace tinymp::lab
