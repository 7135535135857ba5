#pragma once

#include <cstdint>
#include <span>
#include <string>

/// What a picture file says of itself, read and checked before a decoder sees it.
namespace tinymp::data {

enum class PictureFormat : std::uint8_t { png, jpeg, bmp, pnm };

struct PictureHeader {
  PictureFormat format = PictureFormat::png;
  std::int64_t rows = 0, cols = 0;
  int orientation = 1;   ///< EXIF 2.3, 4.6.4 A, tag 0x0112: 1 upright .. 8
  int most_level = 255;  ///< PNM: the level that means white
};

/// Walks through a file and returns its size. Sources: PNG (ISO 15948), JPEG (ITU T.81 annex B), EXIF 2.3, the
/// Netpbm formats, Windows' BITMAPINFOHEADER.
///
/// Throws Error naming `path` for a format that is not read, more than most_picture_pixels, a file that ends too
/// soon, a PNG with a wrong checksum, and a header that promises more pixels than the file can hold: a block of
/// 8 x 8 pixels of a JPEG takes at least a bit, a byte of a PNG unpacks to at most 1032.
PictureHeader inspect_picture(std::span<const std::uint8_t> file, const std::string& path);

/// The same of a JPEG: T.81 annex B. `file` begins with its SOI.
PictureHeader inspect_jpeg(std::span<const std::uint8_t> file, const std::string& path);

/// Half a sentence for every refusal.
inline constexpr const char* mend_picture = "save it again as PNG, JPEG, BMP or PGM";

}  // namespace tinymp::data
