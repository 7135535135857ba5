#include <zlib.h>

#include <tinymp/base/error.h>
#include <tinymp/data/gzip.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

namespace tinymp::data {
namespace {

using Bytes = std::vector<std::uint8_t>;
using File = std::unique_ptr<gzFile_s, decltype(&gzclose)>;

constexpr std::size_t block_size = 1 << 16;

std::string reason() { return errno != 0 ? std::strerror(errno) : "the system gives no reason"; }

File open_file(const std::string& path, const std::string& mend) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (status.type() == std::filesystem::file_type::not_found)
    throw MissingError(concat(path, ": no such file; ", mend));
  expect(!std::filesystem::is_directory(status), path, ": a folder where a file was expected; ", mend);
  expect(!std::filesystem::is_other(status), path, ": no regular file; ", mend);

  errno = 0;
  File file(gzopen(path.c_str(), "rb"), gzclose);
  expect(file != nullptr, path, ": cannot be opened: ", reason(), "; ", mend);
  gzbuffer(file.get(), block_size);
  return file;
}

/// Throws Error with the message of zlib, if zlib reports an error.
void check(gzFile file, const std::string& path, const std::string& mend) {
  int code = Z_OK;
  std::string words = gzerror(file, &code);
  if (code == Z_OK) return;
  if (words.starts_with(path + ": ")) words.erase(0, path.size() + 2);
  expect(code != Z_ERRNO, path, ": cannot be read after ", gzoffset(file), " bytes: ", words, "; ", mend);
  expect(code != Z_BUF_ERROR, path, ": cut short: its gzip ends after ", gzoffset(file),
         " bytes, before all is unpacked; ", mend);
  throw Error(concat(path, ": damaged: its gzip cannot be unpacked (", words, "); ", mend));
}

/// A gzip file ends with the CRC-32 and the length of what its last member holds. zlib ignores bytes that
/// follow; this does not.
bool ends_with_trailer(const std::string& path, const Bytes& unpacked) {
  std::array<std::uint8_t, 8> trailer{};
  std::ifstream in(path, std::ios::binary);
  in.seekg(-8, std::ios::end);
  in.read(reinterpret_cast<char*>(trailer.data()), trailer.size());
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8 | trailer[at + i];
    return value;
  };
  const std::size_t length = number(4);
  if (!in || length > unpacked.size()) return false;
  return crc32_z(crc32_z(0, nullptr, 0), unpacked.data() + unpacked.size() - length, length) == number(0);
}

}  // namespace

std::vector<std::uint8_t> read_maybe_gzip(const std::string& path, const std::string& mend,
                                          std::size_t most) {
  const File file = open_file(path, mend);
  Bytes bytes;
  while (bytes.size() < most) {
    const std::size_t before = bytes.size(), wanted = std::min(block_size, most - before);
    bytes.resize(before + wanted);
    const int got = gzread(file.get(), bytes.data() + before, static_cast<unsigned>(wanted));
    if (got == static_cast<int>(wanted)) continue;
    check(file.get(), path, mend);
    bytes.resize(before + static_cast<std::size_t>(got));
    expect(gzdirect(file.get()) != 0 || ends_with_trailer(path, bytes), path,
           ": damaged: bytes follow the end of its gzip; ", mend);
    break;
  }
  return bytes;
}

}  // namespace tinymp::data
