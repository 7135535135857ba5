#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What a submission may not hold, and what a teacher may want to see in it.
namespace tinymp::classroom {

/// Why a submission is not judged, in a sentence; empty: it is. It holds a preprocessor line (#define reaches
/// into the check), a bracket that closes what it did not open (and so leaves the namespace), a name of
/// `without`.
std::string why_refused(std::string_view text, const std::vector<std::string>& without = {});
/// Words that no exercise needs, and that a teacher may want to see: asm, attributes, system calls.
std::vector<std::string> notable_words(std::string_view text);

}  // namespace tinymp::classroom
