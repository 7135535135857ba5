#include <tinymp/data/augment.h>
#include <algorithm>

namespace tinymp::data {

void crop_and_flip(std::span<const std::uint8_t> image, const ImageShape& shape, const CropAndFlip& drawn,
                   std::span<std::uint8_t> out) {
  std::uint8_t* to = out.data();
  for (std::int64_t r = 0; r < shape.rows; ++r) {
    const std::int64_t row = r + drawn.row - crop_padding;
    for (std::int64_t c = 0; c < shape.cols; ++c, to += shape.channels) {
      const std::int64_t shown = c + drawn.col - crop_padding;
      const std::int64_t col = drawn.mirrored ? shape.cols - 1 - shown : shown;
      if (row < 0 || row >= shape.rows || col < 0 || col >= shape.cols)
        std::fill_n(to, shape.channels, std::uint8_t{0});
      else
        std::copy_n(image.data() + (row * shape.cols + col) * shape.channels, shape.channels, to);
    }
  }
}

}  // namespace tinymp::data
