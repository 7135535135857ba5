#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What a text may not hold that stands in an exercise's place, and what a teacher may want to see.
namespace tinymp::classroom {

/// Why a text is more than a piece in its place: a preprocessor line (#define reaches into the check), a
/// bracket that closes what it did not open (and so leaves the namespace), a name of those in `without`.
/// Empty: it is not.
std::string leaves_its_place(std::string_view text, const std::vector<std::string>& without = {});
/// Words that no exercise needs, and that a teacher may want to see: asm, attributes, system calls.
std::vector<std::string> notable_words(std::string_view text);

}  // namespace tinymp::classroom
