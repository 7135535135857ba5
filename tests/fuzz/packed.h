#pragma once

#include <zlib.h>

#include <tests/fuzz/fuzz.h>
#include <fstream>

/// What the harnesses of the data sets share: files that may be in gzip.

inline void write_own(std::string_view bytes) { std::ofstream(own_file(), std::ios::binary) << bytes; }

inline bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

inline std::string gzip(std::string_view bytes) {
  z_stream stream{};
  if (deflateInit2(&stream, 1, Z_DEFLATED, 9 + 16, 1, Z_DEFAULT_STRATEGY) != Z_OK) std::abort();
  std::string packed(deflateBound(&stream, static_cast<uLong>(bytes.size())), '\0');
  std::string plain(bytes);
  stream.next_in = reinterpret_cast<Bytef*>(plain.data());
  stream.avail_in = static_cast<uInt>(plain.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}
