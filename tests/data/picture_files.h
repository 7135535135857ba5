#pragma once

#include <tests/data/files.h>
#include <array>

/// Pictures whose pixels are known, made by hand. None of the code that is tested helps here.
namespace picture_files {

using files::Bytes;

inline void put(Bytes& out, std::uint64_t value, int bytes, bool big = true) {
  for (int i = 0; i < bytes; ++i)
    out.push_back(static_cast<std::uint8_t>(value >> 8 * (big ? bytes - 1 - i : i) & 0xff));
}

inline void append(Bytes& out, const Bytes& more) { out.insert(out.end(), more.begin(), more.end()); }

// PNG
// --------------------------------------------------------------

inline void chunk(Bytes& out, const std::string& kind, const Bytes& data) {
  put(out, data.size(), 4);
  const std::size_t begin = out.size();
  out.insert(out.end(), kind.begin(), kind.end());
  append(out, data);
  put(out, crc32(0, out.data() + begin, static_cast<uInt>(out.size() - begin)), 4);
}

inline Bytes zlib(const Bytes& bytes) {
  Bytes packed(compressBound(static_cast<uLong>(bytes.size())));
  uLongf size = static_cast<uLongf>(packed.size());
  REQUIRE(compress2(packed.data(), &size, bytes.data(), static_cast<uLong>(bytes.size()), 9) == Z_OK);
  packed.resize(size);
  return packed;
}

struct Png {
  std::uint32_t cols = 0, rows = 0;
  int bits = 8, kind = 0;  ///< kind: 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha
  Bytes lines{};           ///< rows of packed samples, without the filter byte
  Bytes palette{}, transparent{};
  bool is_animated = false;
};

inline Bytes png(const Png& picture) {
  Bytes out = {0x89, 'P', 'N', 'G', '\r', '\n', 0x1a, '\n'}, head, filtered;
  put(head, picture.cols, 4);
  put(head, picture.rows, 4);
  append(head, {static_cast<std::uint8_t>(picture.bits), static_cast<std::uint8_t>(picture.kind), 0, 0, 0});
  chunk(out, "IHDR", head);
  if (picture.is_animated) chunk(out, "acTL", {0, 0, 0, 2, 0, 0, 0, 0});
  if (!picture.palette.empty()) chunk(out, "PLTE", picture.palette);
  if (!picture.transparent.empty()) chunk(out, "tRNS", picture.transparent);
  const std::size_t line = picture.lines.size() / std::max(1u, picture.rows);
  for (std::size_t r = 0; line > 0 && r < picture.rows; ++r) {
    filtered.push_back(0);
    filtered.insert(filtered.end(), picture.lines.begin() + static_cast<std::ptrdiff_t>(r * line),
                    picture.lines.begin() + static_cast<std::ptrdiff_t>((r + 1) * line));
  }
  chunk(out, "IDAT", zlib(filtered));
  chunk(out, "IEND", {});
  return out;
}

// PGM, PPM, BMP
// --------------------------------------------------------------

inline Bytes pnm(const std::string& header, const Bytes& pixels) {
  Bytes out(header.begin(), header.end());
  append(out, pixels);
  return out;
}

/// 24 bits a pixel, from the bottom. `pixels`: (rows, cols, 3), red first, from the top.
inline Bytes bmp(std::uint32_t rows, std::uint32_t cols, const Bytes& pixels) {
  const std::uint32_t line = (cols * 3 + 3) / 4 * 4;
  Bytes out = {'B', 'M'};
  put(out, 54 + line * rows, 4, false);
  put(out, 0, 4, false);
  put(out, 54, 4, false);
  for (const std::uint32_t value : {40u, cols, rows}) put(out, value, 4, false);
  put(out, 1, 2, false);
  put(out, 24, 2, false);
  for (int i = 0; i < 6; ++i) put(out, 0, 4, false);
  for (std::size_t r = rows; r-- > 0;) {
    for (std::size_t c = 0; c < cols; ++c)
      for (std::size_t i = 3; i-- > 0;) out.push_back(pixels[(r * cols + c) * 3 + i]);
    out.resize(out.size() + line - cols * 3);
  }
  return out;
}

// JPEG: blocks of 8 x 8 pixels of one level each. A block is its DC coefficient and an end of block;
// quantised by 8, the coefficient is the level - 128. Codes: a category of DC differences is four bits, the
// end of block one.
// --------------------------------------------------------------

struct Jpeg {
  int rows = 8, cols = 8;  ///< multiples of 8
  std::vector<int> levels = {128};
  int orientation = 1;  ///< other than 1: in an EXIF segment
  int components = 1;   ///< in the header alone
};

inline void segment(Bytes& out, std::uint8_t marker, const Bytes& data) {
  append(out, {0xff, marker});
  put(out, data.size() + 2, 2);
  append(out, data);
}

inline Bytes coded(const std::vector<int>& levels) {
  std::string bits;
  const auto write = [&](int value, int count) {
    for (int i = count; i-- > 0;) bits += (value >> i & 1) != 0 ? '1' : '0';
  };
  int before = 0;
  for (const int level : levels) {
    const int difference = level - 128 - before;
    before = level - 128;
    int category = 0;
    while (std::abs(difference) >> category != 0) ++category;
    write(category, 4);
    write(difference < 0 ? difference + (1 << category) - 1 : difference, category);
    write(0, 1);
  }
  while (bits.size() % 8 != 0) bits += '1';
  Bytes out;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    out.push_back(static_cast<std::uint8_t>(std::stoi(bits.substr(i, 8), nullptr, 2)));
    if (out.back() == 0xff) out.push_back(0);
  }
  return out;
}

inline Bytes jpeg(const Jpeg& picture) {
  Bytes out = {0xff, 0xd8};
  if (picture.orientation != 1) {
    Bytes exif = {'E', 'x', 'i', 'f',  0,    0, 'M', 'M', 0, 42, 0, 0, 0,
                  8,   0,   1,   0x01, 0x12, 0, 3,   0,   0, 0,  1, 0};
    append(exif, {static_cast<std::uint8_t>(picture.orientation), 0, 0, 0, 0, 0, 0});
    segment(out, 0xe1, exif);
  }
  Bytes table = {0};
  table.resize(65, 8);
  segment(out, 0xdb, table);
  Bytes frame = {8};
  put(frame, static_cast<std::uint64_t>(picture.rows), 2);
  put(frame, static_cast<std::uint64_t>(picture.cols), 2);
  frame.push_back(static_cast<std::uint8_t>(picture.components));
  for (int i = 0; i < picture.components; ++i) append(frame, {static_cast<std::uint8_t>(i + 1), 0x11, 0});
  segment(out, 0xc0, frame);
  segment(out, 0xc4,
          {0x00, 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  segment(out, 0xc4, {0x10, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  segment(out, 0xda, {1, 1, 0, 0, 63, 0});
  append(out, coded(picture.levels));
  append(out, {0xff, 0xd9});
  return out;
}

}  // namespace picture_files
