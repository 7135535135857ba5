#pragma once

#include <string>
#include <string_view>

/// What comes from a student and is shown to a teacher: a folder's name, a line of a message.
namespace tinymp::classroom {

/// Fit for a terminal, a table and a file name of any file system: control characters, signs that turn the
/// direction of writing, slashes and bytes that are no UTF-8 become _, and what is longer than 64 bytes is
/// cut. A name that had to be changed ends with eight digits of its hash, so that two stay two; any other
/// stays as it is.
std::string plain_name(std::string_view name);

/// The same for a line to be shown, of at most `most` bytes and without the hash.
std::string plain_line(std::string_view text, std::size_t most = 200);

}  // namespace tinymp::classroom
