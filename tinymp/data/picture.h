#pragma once

#include <tinymp/data/dataset.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

/// Pictures as people have them: PNG, JPEG, BMP, and PGM or PPM of the kinds P5 and P6. stb_image decodes
/// them; picture_header.h checks each file before.
namespace tinymp::data {

// What a file may cost, checked before anything of that size is allocated.
inline constexpr std::size_t most_picture_bytes = std::size_t{64} << 20;   ///< of the file
inline constexpr std::int64_t most_picture_pixels = 25'000'000;            ///< rows x columns
inline constexpr std::size_t most_decoder_bytes = std::size_t{512} << 20;  ///< all that stb_image holds

struct Picture {
  ImageShape shape{.rows = 0, .cols = 0, .channels = 1};  ///< channels: 1 grey; 3 red, green, blue
  std::vector<std::uint8_t> pixels{};                     ///< (H,W,C), 0 black .. 255 white

  std::uint8_t at(std::int64_t row, std::int64_t col, std::int64_t channel = 0) const {
    return pixels[static_cast<std::size_t>((row * shape.cols + col) * shape.channels + channel)];
  }
};

/// Reads a picture, plain or in gzip; the first bytes of the file tell its format, not its name.
///
///   palette            becomes its colours (or greys, where the file is grey)
///   16 bits a channel  the high byte (PNG)
///   alpha              laid on white
///   a turned photo     upright, as the Orientation of its EXIF says (JPEG)
///   levels 0 .. M      stretched to 0 .. 255 (PGM and PPM with another maximum than 255)
///
/// Throws MissingError when there is no such file. Throws Error, with the path and the way out, for another
/// format (GIF, WebP, HEIC ...), CMYK, an animation, a file that is cut short or damaged, and beyond the limits
/// above. A JPEG has no checksum: flipped bits inside it change the picture and nothing tells.
Picture read_picture(const std::string& path);

/// Decodes a file that is in memory. `path` is for messages alone.
Picture decode_picture(std::span<const std::uint8_t> file, const std::string& path);

/// Grey levels of a colour picture: (77 R + 150 G + 29 B + 128) / 256, Rec. 601 in integers. Grey stays.
Picture to_grey(Picture picture);

/// Three equal channels of a grey picture. Colour stays.
Picture to_colour(Picture picture);

/// The square in the middle, as large as the picture's shorter side.
Picture centre_square(const Picture& picture);

/// True when at least one pixel in a hundred is coloured: its channels differ by more than 32. A photograph of
/// grey paper has a tint and is not coloured.
bool is_coloured(const Picture& picture);

}  // namespace tinymp::data
