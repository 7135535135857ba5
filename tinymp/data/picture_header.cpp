#include <zlib.h>

#include <tinymp/base/error.h>
#include <tinymp/data/picture.h>
#include <tinymp/data/picture_header.h>
#include <string_view>

namespace tinymp::data {
namespace {

using File = std::span<const std::uint8_t>;

bool begins_with(File file, std::string_view bytes, std::size_t at = 0) {
  if (file.size() < at + bytes.size()) return false;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    if (file[at + i] != static_cast<std::uint8_t>(bytes[i])) return false;
  return true;
}

std::uint32_t big_endian(File file, std::size_t at) {
  return std::uint32_t{file[at]} << 24 | std::uint32_t{file[at + 1]} << 16 |
         std::uint32_t{file[at + 2]} << 8 | file[at + 3];
}

std::uint32_t little_endian(File file, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | file[at + i];
  return value;
}

void check_fits(bool fits, const std::string& path) {
  expect(fits, path, ": cut short: the file ends before its picture does; ", mend_picture);
}

// PNG: a signature, then chunks: length | type | data | CRC-32 of type and data.
// --------------------------------------------------------------

PictureHeader inspect_png(File file, const std::string& path) {
  PictureHeader header{.format = PictureFormat::png};
  for (std::size_t at = 8;;) {
    check_fits(file.size() - at >= 12, path);
    const std::size_t length = big_endian(file, at);
    check_fits(file.size() - at - 12 >= length, path);
    const File checked = file.subspan(at + 4, length + 4);
    expect(crc32_z(0, checked.data(), checked.size()) == big_endian(file, at + 8 + length), path,
           ": damaged: the checksum of its bytes ", at, " to ", at + 12 + length, " is wrong; ",
           mend_picture);
    const bool is_first = at == 8;
    expect(begins_with(checked, "IHDR") == is_first && (!is_first || length == 13), path,
           ": damaged: a PNG begins with one IHDR; ", mend_picture);
    if (is_first) {
      header.cols = big_endian(file, at + 8);
      header.rows = big_endian(file, at + 12);
    }
    expect(!begins_with(checked, "acTL"), path, ": an animation; save one picture of it as PNG");
    if (begins_with(checked, "IEND")) break;
    at += 12 + length;
  }
  expect(header.rows < std::int64_t{1} << 31 && header.cols < std::int64_t{1} << 31, path,
         ": damaged: a PNG of ", header.rows, " x ", header.cols, "; ", mend_picture);
  constexpr std::int64_t most = 8 * 1032;  // pixels a byte: 8 in a byte, 1032 of these in a byte of deflate
  expect(header.rows * header.cols / most <= static_cast<std::int64_t>(file.size()), path,
         ": damaged: ", file.size(), " bytes cannot hold the ", header.rows, " x ", header.cols,
         " pixels that it promises; ", mend_picture);
  return header;
}

// BMP: a header of 14 bytes, one of 12 to 124, then rows of a multiple of 4 bytes.
// --------------------------------------------------------------

PictureHeader inspect_bmp(File file, const std::string& path) {
  check_fits(file.size() >= 26, path);
  const std::size_t pixels_at = little_endian(file, 10, 4), second = little_endian(file, 14, 4);
  const bool is_old = second == 12;
  check_fits(file.size() >= 14 + (is_old ? 12 : 40), path);
  const auto side = [&](std::size_t at) -> std::int64_t {
    if (is_old) return little_endian(file, at, 2);
    return static_cast<std::int32_t>(little_endian(file, at, 4));
  };
  PictureHeader header{.format = PictureFormat::bmp};
  header.cols = side(18);
  header.rows = side(is_old ? 20 : 22);
  if (header.rows < 0) header.rows = -header.rows;  // stored from the top
  const std::int64_t bits = little_endian(file, is_old ? 24 : 28, 2);
  const std::uint32_t packing = is_old ? 0 : little_endian(file, 30, 4);
  expect(packing == 0 || packing == 3, path, ": a packed BMP (compression ", packing,
         "), which is not read; save it as PNG");
  expect(header.cols > 0 && header.cols <= most_picture_pixels && header.rows <= most_picture_pixels, path,
         ": damaged: a BMP of ", header.rows, " x ", header.cols, "; ", mend_picture);
  const std::int64_t row_bytes = (bits * header.cols + 31) / 32 * 4;
  check_fits(pixels_at <= file.size() &&
                 header.rows * row_bytes <= static_cast<std::int64_t>(file.size() - pixels_at),
             path);
  return header;
}

// PGM and PPM: P5 or P6, columns, rows, the level of white, one space, then bytes.
// --------------------------------------------------------------

PictureHeader inspect_pnm(File file, const std::string& path) {
  std::size_t at = 2;
  const auto is_space = [&] { return file[at] == ' ' || (file[at] >= '\t' && file[at] <= '\r'); };
  const auto number = [&] {
    while (at < file.size() && (is_space() || file[at] == '#')) {
      if (file[at] == '#')
        while (at < file.size() && file[at] != '\n' && file[at] != '\r') ++at;
      else
        ++at;
    }
    std::int64_t value = 0;
    const std::size_t begin = at;
    for (; at < file.size() && file[at] >= '0' && file[at] <= '9' && at - begin < 9; ++at)
      value = value * 10 + (file[at] - '0');
    check_fits(at < file.size(), path);
    expect(at > begin && is_space(), path, ": damaged: no number at byte ", at, " of its header; ",
           mend_picture);
    return value;
  };
  PictureHeader header{.format = PictureFormat::pnm};
  header.cols = number();
  header.rows = number();
  const std::int64_t most_level = number();
  expect(most_level >= 1 && most_level <= 255, path, ": its levels go up to ", most_level,
         "; at most 255 are read: save it with 8 bits a level");
  header.most_level = static_cast<int>(most_level);
  const std::int64_t channels = file[1] == '6' ? 3 : 1;
  const auto held = static_cast<std::int64_t>(file.size() - at - 1);
  check_fits(header.cols == 0 || header.rows * channels <= held / header.cols, path);
  return header;
}

/// The name of a format that people meet and that is not read; empty for anything else.
std::string_view foreign_format(File file) {
  if (begins_with(file, "GIF8")) return "a GIF";
  if (begins_with(file, "RIFF") && begins_with(file, "WEBP", 8)) return "a WebP";
  if (begins_with(file, "ftyp", 4)) return "a HEIC or AVIF, as phones write it";
  if (begins_with(file, {"II*\0", 4}) || begins_with(file, {"MM\0*", 4})) return "a TIFF";
  if (begins_with(file, "%PDF")) return "a PDF";
  if (begins_with(file, "<svg") || begins_with(file, "<?xml")) return "an SVG";
  if (file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '7')
    return "a PGM or PPM as text, or another PNM than the binary P5 and P6";
  return {};
}

PictureHeader inspect(File file, const std::string& path) {
  if (begins_with(file, "\x89PNG\r\n\x1a\n")) return inspect_png(file, path);
  if (begins_with(file, "\xff\xd8\xff")) return inspect_jpeg(file, path);
  if (begins_with(file, "BM")) return inspect_bmp(file, path);
  if (begins_with(file, "P5") || begins_with(file, "P6")) return inspect_pnm(file, path);
  expect(!file.empty(), path, ": an empty file; ", mend_picture);
  const std::string_view name = foreign_format(file);
  throw Error(name.empty() ? concat(path, ": not a picture that is read: PNG, JPEG, BMP, PGM and PPM are")
                           : concat(path, ": ", name, ", which is not read; ", mend_picture));
}

}  // namespace

PictureHeader inspect_picture(File file, const std::string& path) {
  const PictureHeader header = inspect(file, path);
  expect(header.rows > 0 && header.cols > 0, path, ": a picture of ", header.rows, " x ", header.cols,
         " pixels holds nothing; ", mend_picture);
  expect(header.rows <= most_picture_pixels / header.cols, path, ": ", header.rows, " x ", header.cols,
         " pixels; at most ", most_picture_pixels, " are read: make it smaller first");
  return header;
}

}  // namespace tinymp::data
