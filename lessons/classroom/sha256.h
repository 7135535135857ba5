#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

/// SHA-256 (FIPS 180-4): names a file by its contents, and turns a student's id into numbers.
namespace tinymp::classroom {

std::array<std::uint32_t, 8> sha256_words(std::string_view data);
std::string sha256(std::string_view data);  ///< 64 hexadecimal digits

}  // namespace tinymp::classroom
