#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// What libFuzzer and replay.cpp call with any bytes: it must neither crash nor hang, and throws nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}
