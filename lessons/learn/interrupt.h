#pragma once

#include <string>

namespace tinymp::lab {

/// While it lives, Ctrl-C says a last sentence before the program ends as it would have anyway.
class LastWords {
 public:
  explicit LastWords(const std::string& sentence);  ///< one at a time
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;
};

}  // namespace tinymp::lab
