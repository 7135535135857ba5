#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tinymp::data {

/// More bytes than any data set has. A few MB of gzip could unpack to more.
inline constexpr std::size_t largest_file = std::size_t{1} << 30;

/// Returns the first `most` bytes of a file, or all when there are fewer. Unpacks gzip, which it knows by the
/// first bytes of the file, not by its name. It unpacks little more than `most` bytes, so it does not see
/// damage further on: a caller that needs exactly n bytes asks for n + 1.
/// Throws MissingError when there is no such file, Error when it is no regular file, cannot be read, or its
/// gzip is damaged or cut short; the message names the file and ends with `mend`.
std::vector<std::uint8_t> read_maybe_gzip(const std::string& path, const std::string& mend,
                                          std::size_t most = largest_file);

}  // namespace tinymp::data
