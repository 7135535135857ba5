#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tinymp::data {

inline constexpr std::int64_t image_rows = 28, image_cols = 28, image_pixels = image_rows * image_cols;
inline constexpr int image_classes = 10;

/// Grey images with one label each, in memory as they lie on disk: one byte a pixel.
struct Dataset {
  std::string name;                  ///< "mnist"
  std::int64_t count = 0;            ///< N
  std::vector<std::uint8_t> images;  ///< (N, 28, 28), one after another; 0 background .. 255 ink
  std::vector<std::uint8_t> labels;  ///< (N), 0 .. 9

  std::span<const std::uint8_t> image(std::int64_t i) const {  // (28, 28)
    return std::span(images).subspan(static_cast<std::size_t>(i * image_pixels), image_pixels);
  }
};

/// Train on the first, choose with the second, report the third.
struct Split {
  Dataset train, validation, test;
};

/// A named set of 28 x 28 images, split: "mnist", "fashion", or "cut", the 11,000 images of Fashion-MNIST
/// that come with tinymp. The folder (mnist, fashion, fashion-mnist-cut) is looked for in $TINYMP_DATA, in
/// datasets/ beside the sources, and in $TINYMP_DATASETS; "fashion" also where Debian's package
/// dataset-fashion-mnist puts it. The first folder with all four files is read.
///
/// Validation is a tenth of the training file, at most 5,000 images (5,000 of 60,000; 1,000 of the cut's
/// 10,000), drawn at random once and for all: the same images whatever the seed of a run, so that runs can be
/// compared. Both parts keep the order of the file. Test is the test file.
///
/// Throws UsageError for another name, MissingError naming every place and the command that fetches the set,
/// Error when a file is damaged.
Split load_images(const std::string& name);

/// How many images a named set holds in its two files, by their headers alone: costs no more than opening
/// them. Throws as load_images does, but sees damage in a header only.
std::int64_t count_images(const std::string& name);

/// "mnist (55000 train, 5000 validation, 10000 test)"
std::string describe(const Split& split);

}  // namespace tinymp::data
