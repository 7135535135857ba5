#pragma once

#include <tinymp/base/rng.h>
#include <tinymp/data/dataset.h>
#include <cstdint>
#include <span>

/// More images out of the same: each epoch shows every one moved by up to 4 pixels, half of them mirrored.
/// He, Zhang, Ren and Sun 2015 (arXiv 1512.03385), section 4.2: pad by 4 pixels on each side, crop at random.
namespace tinymp::data {

inline constexpr std::int64_t crop_padding = 4;  ///< pixels

/// Where the crop lies in the padded image, 0 .. 8 down and right, and whether the image was mirrored first.
struct CropAndFlip {
  std::int64_t row = 0, col = 0;
  bool mirrored = false;
};

/// Of image `index` in an epoch whose generator is `of_epoch`. Depends on nothing else: not on the batch, the
/// order of the images or the threads.
inline CropAndFlip draw_crop_and_flip(const Rng& of_epoch, std::int64_t index) {
  Rng rng = of_epoch.split(static_cast<std::uint64_t>(index));
  CropAndFlip drawn;
  drawn.row = static_cast<std::int64_t>(rng.below(2 * crop_padding + 1));
  drawn.col = static_cast<std::int64_t>(rng.below(2 * crop_padding + 1));
  drawn.mirrored = rng.below(2) == 1;
  return drawn;
}

/// out = crop(pad(mirror(image))), all (H,W,C). The padding is 0, black: what a grey background is.
void crop_and_flip(std::span<const std::uint8_t> image, const ImageShape& shape, const CropAndFlip& drawn,
                   std::span<std::uint8_t> out);

}  // namespace tinymp::data
