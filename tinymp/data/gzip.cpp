#include <zlib.h>

#include <tinymp/base/error.h>
#include <tinymp/data/gzip.h>
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

namespace tinymp::data {
namespace {

using Bytes = std::vector<std::uint8_t>;

std::string reason() { return errno != 0 ? std::strerror(errno) : "the system gives no reason"; }

Bytes read_file(const std::string& path, const std::string& mend) {
  std::error_code failure;
  const std::filesystem::file_status status = std::filesystem::status(path, failure);
  if (status.type() == std::filesystem::file_type::not_found)
    throw MissingError(concat(path, ": no such file; ", mend));
  expect(status.type() != std::filesystem::file_type::directory, path,
         ": a folder where a file was expected; ", mend);

  errno = 0;
  std::ifstream in(path, std::ios::binary);
  expect(in.is_open(), path, ": cannot be opened: ", reason(), "; ", mend);
  Bytes bytes;
  std::vector<char> block(1 << 16);
  while (in) {
    in.read(block.data(), static_cast<std::streamsize>(block.size()));
    bytes.insert(bytes.end(), block.begin(), block.begin() + in.gcount());
  }
  expect(!in.bad(), path, ": cannot be read after ", bytes.size(), " bytes: ", reason(), "; ", mend);
  return bytes;
}

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

/// The unpacked length as the last four bytes give it: a hint that saves growing, bounded by deflate's best
/// ratio.
std::size_t length_hint(const Bytes& packed) {
  if (packed.size() < 18) return 0;  // the shortest gzip: 10 bytes of header, 8 of trailer
  std::size_t length = 0;
  for (std::size_t i = 1; i <= 4; ++i) length = length << 8 | packed[packed.size() - i];
  return std::min(length, packed.size() * 1032);
}

/// One gzip member after another, as RFC 1952 allows; zlib checks each one's CRC-32 and length.
Bytes unpack(const Bytes& packed, const std::string& path, const std::string& mend) {
  Inflater inflater;
  z_stream& z = inflater.stream;
  Bytes out, block(1 << 16);
  out.reserve(length_hint(packed));
  std::size_t fed = 0;
  int state = Z_OK;
  while (true) {
    if (z.avail_in == 0 && fed < packed.size()) {
      const std::size_t piece = std::min<std::size_t>(packed.size() - fed, std::numeric_limits<uInt>::max());
      z.next_in = const_cast<Bytef*>(packed.data() + fed);
      z.avail_in = static_cast<uInt>(piece);
      fed += piece;
    }
    z.next_out = block.data();
    z.avail_out = static_cast<uInt>(block.size());
    state = inflate(&z, Z_NO_FLUSH);
    out.insert(out.end(), block.data(), z.next_out);
    const bool all_used = z.avail_in == 0 && fed == packed.size();
    if (state == Z_STREAM_END) {
      if (all_used) return out;
      inflateReset(&z);
    } else if (state == Z_BUF_ERROR || (state == Z_OK && all_used && z.avail_out != 0)) {
      throw Error(concat(path, ": cut short: its gzip ends after ", packed.size(),
                         " bytes, before all is unpacked; ", mend));
    } else if (state != Z_OK) {
      throw Error(concat(path, ": damaged: its gzip cannot be unpacked (",
                         z.msg != nullptr ? z.msg : "zlib gives no reason", "); ", mend));
    }
  }
}

/// For zlib's own reader, which looks for gzip too and passes other files through.
struct CloseFile {
  void operator()(gzFile file) const { gzclose(file); }
};

}  // namespace

std::vector<std::uint8_t> read_maybe_gzip(const std::string& path, const std::string& mend) {
  Bytes bytes = read_file(path, mend);
  const bool gzip = bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
  return gzip ? unpack(bytes, path, mend) : bytes;
}

std::vector<std::uint8_t> read_beginning(const std::string& path, std::size_t count,
                                         const std::string& mend) {
  errno = 0;
  const std::unique_ptr<gzFile_s, CloseFile> in(gzopen(path.c_str(), "rb"));
  expect(in != nullptr, path, ": cannot be opened: ", reason(), "; ", mend);
  Bytes bytes(count);
  const int got = gzread(in.get(), bytes.data(), static_cast<unsigned>(count));
  expect(got >= 0, path, ": cannot be read or unpacked; ", mend);
  bytes.resize(static_cast<std::size_t>(got));
  return bytes;
}

}  // namespace tinymp::data
