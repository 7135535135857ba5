#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tinymp::data {

/// More than any data set has, and what a few MB of gzip can become.
inline constexpr std::size_t largest_file = std::size_t{1} << 30;

/// The bytes of a file, unpacked when it is gzip (seen by its first bytes, not by its name): the first `most`
/// of them, or all when there are fewer. Unpacks little more than that, and so does not see what is wrong
/// further on: a caller that wants exactly n bytes asks for n + 1.
/// Throws MissingError when there is no such file, Error when it is no regular file, cannot be read, or its
/// gzip is damaged or cut short; the message names the file and ends with `mend`.
std::vector<std::uint8_t> read_maybe_gzip(const std::string& path, const std::string& mend,
                                          std::size_t most = largest_file);

}  // namespace tinymp::data
