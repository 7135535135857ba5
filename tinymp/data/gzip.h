#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tinymp::data {

/// All bytes of a file, unpacked when it is gzip (seen by its first bytes, not by its name).
/// Throws MissingError when there is no such file, Error when it cannot be read or its gzip is damaged or cut
/// short; the message names the file and ends with `mend`.
std::vector<std::uint8_t> read_maybe_gzip(const std::string& path, const std::string& mend);

/// The first `count` bytes of that, or fewer when there are no more. Unpacks no more than it needs, and so
/// does not see what is wrong further on.
std::vector<std::uint8_t> read_beginning(const std::string& path, std::size_t count, const std::string& mend);

}  // namespace tinymp::data
