#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Finds what a submission may not hold, and words that a teacher may want to see.
namespace tinymp::classroom {

/// Returns a sentence that says why a submission is not judged; empty: it is judged. Among the reasons: a
/// preprocessor line (#define reaches into the check), a bracket that closes what the text did not open (and
/// so leaves the namespace), a name of `without`.
std::string why_refused(std::string_view text, const std::vector<std::string>& without = {});
/// Returns the words of the text that no exercise needs and that a teacher may want to see: asm, attributes,
/// system calls.
std::vector<std::string> notable_words(std::string_view text);

}  // namespace tinymp::classroom
