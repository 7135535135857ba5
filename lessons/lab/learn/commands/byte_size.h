#pragma once

#include <cstdint>
#include <string>

namespace CLI {
class Validator;
}

/// Sizes of memory on the command line: 12GB is 12 x 10^9 bytes, 12GiB 12 x 2^30.
namespace tinymp::lab {

CLI::Validator byte_size();

/// "12GB", "1.5 GiB", "800kB", "4096": bytes. Throws UsageError for anything else, and for less than one byte.
std::int64_t bytes_from(const std::string& text);

}  // namespace tinymp::lab
