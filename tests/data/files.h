#pragma once

#include <stdlib.h>
#include <zlib.h>

#include <tests/catch.h>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

/// What the tests of data/ share: folders that vanish, IDX files made by hand, messages.
namespace files {

using Bytes = std::vector<std::uint8_t>;

/// A fresh folder, removed with everything in it.
struct Folder {
  std::filesystem::path path;
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "tinymp-test-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return (path / name).string(); }
};

/// Sets (or with nullptr unsets) an environment variable and puts the old value back.
struct Environment {
  std::string name, old;
  bool had;
  Environment(const char* variable, const char* value) : name(variable) {
    const char* before = std::getenv(variable);
    had = before != nullptr;
    if (had) old = before;
    set(value);
  }
  ~Environment() { set(had ? old.c_str() : nullptr); }
  void set(const char* value) const {
    if (value != nullptr)
      setenv(name.c_str(), value, 1);
    else
      unsetenv(name.c_str());
  }
};

inline void write(const std::string& path, const Bytes& bytes) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  REQUIRE(out.good());
}

inline Bytes gzip(const Bytes& bytes, int level = 9) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  Bytes packed(deflateBound(&stream, static_cast<uLong>(bytes.size())));
  stream.next_in = const_cast<Bytef*>(bytes.data());
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = packed.data();
  stream.avail_out = static_cast<uInt>(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

/// magic, the counts, then `body`; all numbers big-endian.
inline Bytes idx(std::uint32_t magic, const std::vector<std::uint32_t>& counts, const Bytes& body) {
  Bytes bytes;
  const auto put = [&](std::uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8)
      bytes.push_back(static_cast<std::uint8_t>(value >> shift & 0xff));
  };
  put(magic);
  for (const std::uint32_t count : counts) put(count);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

/// n bytes 0, 1, 2 ... modulo `modulo`.
inline Bytes counting(std::size_t n, std::size_t modulo = 251) {
  Bytes bytes(n);
  for (std::size_t i = 0; i < n; ++i) bytes[i] = static_cast<std::uint8_t>(i % modulo);
  return bytes;
}

/// The four files of a small set of 28 x 28 images; image i is filled from a counter that differs with i.
inline void write_set(const Folder& folder, const std::string& name, std::uint32_t train,
                      std::uint32_t test) {
  const auto part = [&](const std::string& prefix, std::uint32_t count) {
    write(folder / (name + "/" + prefix + "-images-idx3-ubyte.gz"),
          gzip(idx(0x803, {count, 28, 28}, counting(count * 784u))));
    write(folder / (name + "/" + prefix + "-labels-idx1-ubyte"), idx(0x801, {count}, counting(count, 10)));
  };
  part("train", train);
  part("t10k", test);
}

/// What `action` throws: its message, or "" when it throws nothing. Another type than E fails the test.
template <class E, class Action>
std::string message(Action action) {
  try {
    action();
  } catch (const E& error) {
    return error.what();
  }
  return {};
}

/// datasets/ beside the sources: the readers look there, too.
inline std::filesystem::path source_datasets() {
  const std::filesystem::path here = std::filesystem::absolute(__FILE__).lexically_normal();
  return here.parent_path().parent_path().parent_path() / "datasets";
}

/// "" unless TINYMP_DATA holds full MNIST.
inline std::string mnist_folder() {
  const char* data = std::getenv("TINYMP_DATA");
  const std::filesystem::path folder = std::filesystem::path(data == nullptr ? "" : data) / "mnist";
  return std::filesystem::exists(folder / "train-images-idx3-ubyte.gz") ? folder.string() : std::string();
}

}  // namespace files
