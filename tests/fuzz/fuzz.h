#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

/// What libFuzzer and replay.cpp call with any bytes: it must neither crash nor hang, and throws nothing.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// A file for what is read from files; it goes when the process ends.
inline const std::string& own_file() {
  struct Own {
    std::string path = (std::filesystem::temp_directory_path() / "tinymp-fuzz-XXXXXX").string();
    Own() {
      const int file = mkstemp(path.data());
      if (file < 0) std::abort();
      close(file);
    }
    ~Own() { unlink(path.c_str()); }
  };
  static const Own own;
  return own.path;
}
