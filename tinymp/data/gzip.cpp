#include <zlib.h>

#include <tinymp/base/error.h>
#include <tinymp/data/gzip.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>

namespace tinymp::data {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string reason() { return errno != 0 ? std::strerror(errno) : "the system gives no reason"; }

std::ifstream open_file(const std::string& path, const std::string& mend) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (status.type() == std::filesystem::file_type::not_found)
    throw MissingError(concat(path, ": no such file; ", mend));
  expect(!std::filesystem::is_directory(status), path, ": a folder where a file was expected; ", mend);
  expect(!std::filesystem::is_other(status), path, ": no regular file; ", mend);

  errno = 0;
  std::ifstream in(path, std::ios::binary);
  expect(in.is_open(), path, ": cannot be opened: ", reason(), "; ", mend);
  return in;
}

/// A file in blocks; the last is empty.
class Blocks {
 public:
  Blocks(const std::string& path, const std::string& mend)
      : path_(path), mend_(mend), in_(open_file(path, mend)), block_(1 << 16) {}
  std::span<std::uint8_t> next() {
    in_.read(reinterpret_cast<char*>(block_.data()), static_cast<std::streamsize>(block_.size()));
    expect(!in_.bad(), path_, ": cannot be read after ", size_, " bytes: ", reason(), "; ", mend_);
    const auto got = static_cast<std::size_t>(in_.gcount());
    size_ += got;
    return std::span(block_).first(got);
  }
  std::size_t size() const { return size_; }  ///< of all blocks so far

 private:
  const std::string &path_, &mend_;
  std::ifstream in_;
  Bytes block_;
  std::size_t size_ = 0;
};

/// zlib's stream, released whatever happens.
struct Inflater {
  z_stream stream{};
  Inflater() {
    const int gzip_only = 16;  // inflateInit2: added to the window bits
    expect(inflateInit2(&stream, MAX_WBITS + gzip_only) == Z_OK, "zlib cannot start: out of memory");
  }
  ~Inflater() { inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

/// One gzip member after another, as RFC 1952 allows; zlib checks each one's CRC-32 and length.
Bytes unpack(Blocks& blocks, std::span<std::uint8_t> packed, std::size_t most, const std::string& path,
             const std::string& mend) {
  Inflater inflater;
  z_stream& z = inflater.stream;
  Bytes out, block(1 << 16);
  int state = Z_OK;
  while (out.size() < most) {
    if (z.avail_in == 0) {
      if (z.next_in != nullptr) packed = blocks.next();
      z.next_in = packed.data();
      z.avail_in = static_cast<uInt>(packed.size());
      if (packed.empty() && state == Z_STREAM_END) return out;
    }
    if (state == Z_STREAM_END) inflateReset(&z);
    z.next_out = block.data();
    z.avail_out = static_cast<uInt>(std::min(block.size(), most - out.size()));
    state = inflate(&z, Z_NO_FLUSH);
    out.insert(out.end(), block.data(), z.next_out);
    const bool is_cut = state == Z_BUF_ERROR || (state == Z_OK && packed.empty() && z.avail_out != 0);
    expect(!is_cut, path, ": cut short: its gzip ends after ", blocks.size(),
           " bytes, before all is unpacked; ", mend);
    expect(state == Z_OK || state == Z_STREAM_END, path, ": damaged: its gzip cannot be unpacked (",
           z.msg != nullptr ? z.msg : "zlib gives no reason", "); ", mend);
  }
  return out;
}

}  // namespace

std::vector<std::uint8_t> read_maybe_gzip(const std::string& path, const std::string& mend,
                                          std::size_t most) {
  Blocks blocks(path, mend);
  std::span<std::uint8_t> block = blocks.next();
  if (block.size() >= 2 && block[0] == 0x1f && block[1] == 0x8b)
    return unpack(blocks, block, most, path, mend);
  Bytes bytes;
  for (; !block.empty() && bytes.size() < most; block = blocks.next()) {
    const std::span<std::uint8_t> wanted = block.first(std::min(block.size(), most - bytes.size()));
    bytes.insert(bytes.end(), wanted.begin(), wanted.end());
  }
  return bytes;
}

}  // namespace tinymp::data
