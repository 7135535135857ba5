#pragma once

#include <string>
#include <string_view>

/// Makes text from a student, such as a folder's name or a line of a message, fit to be shown to a teacher.
namespace tinymp::classroom {

/// Returns a name fit for a terminal, a table and a file name on any file system. Control characters, signs
/// that turn the direction of writing, slashes and bytes that are no UTF-8 become _, and the name is cut at
/// 64 bytes. A changed name gets eight digits of its hash at the end, so that two names stay two. Any other
/// name stays as it is, unless it ends like such a hash.
std::string plain_name(std::string_view name);

/// The same for a line to be shown: at most `most` bytes, then "...", and no hash. Slashes stay.
std::string plain_line(std::string_view text, std::size_t most = 200);

}  // namespace tinymp::classroom
