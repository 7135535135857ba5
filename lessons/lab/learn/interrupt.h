#pragma once

#include <string>

namespace tinymp::lab {

/// Past the limit of `ulimit -f` a write fails, and is told as any other is, instead of ending the program
/// without a word. Programs started from here are not affected.
void survive_file_limits();

/// While it lives, Ctrl-C says a last sentence before the program ends as it would have anyway.
class LastWords {
 public:
  explicit LastWords(const std::string& sentence);  ///< one at a time
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;
};

}  // namespace tinymp::lab
