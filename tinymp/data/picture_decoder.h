#pragma once

#include <tinymp/data/picture_header.h>
#include <vector>

namespace tinymp::data {

struct DecodedPicture {
  int channels = 0;                    ///< 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha
  std::vector<std::uint8_t> pixels{};  ///< (H,W,channels), not yet turned
};

/// stb_image decodes a file that inspect_picture() has passed. Throws Error when it fails, when it finds another
/// size than `header`, and when it asks for more than most_decoder_bytes.
DecodedPicture decode_with_stb(std::span<const std::uint8_t> file, const PictureHeader& header,
                               const std::string& path);

}  // namespace tinymp::data
