#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class Validator;
}

/// Sizes of memory on the command line: 12GB is 12 x 10^9 bytes, 12GiB 12 x 2^30.
namespace tinymp::lab {

CLI::Validator byte_size();

/// "12GB", "1.5 GiB", "800kB", "4096B", "4096000": bytes. Throws UsageError for anything else, for less than one byte, and
/// for less than 1000000 without a unit.
std::int64_t bytes_from(const std::string& text);

}  // namespace tinymp::lab
