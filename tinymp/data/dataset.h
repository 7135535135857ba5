#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tinymp::data {

inline constexpr int image_classes = 10;

/// (H,W,C): the channels of a pixel lie side by side.
struct ImageShape {
  std::int64_t rows = 28, cols = 28;
  std::int64_t channels = 1;  ///< 1 grey, 3 red, green, blue

  constexpr std::int64_t size() const { return rows * cols * channels; }  ///< 784 or 3072 numbers
  bool operator==(const ImageShape&) const = default;
};

/// Images of one shape with one label each, in memory: one byte a pixel and channel.
struct Dataset {
  std::string name;                  ///< "mnist"
  std::int64_t count = 0;            ///< N
  std::vector<std::uint8_t> images;  ///< (N,H,W,C), one after another; grey: 0 background .. 255 ink
  std::vector<std::uint8_t> labels;  ///< (N), 0 .. 9
  ImageShape shape{};

  std::span<const std::uint8_t> image(std::int64_t i) const {  // (H,W,C)
    return std::span(images).subspan(static_cast<std::size_t>(i * shape.size()),
                                     static_cast<std::size_t>(shape.size()));
  }
};

/// Train on the first, choose with the second, report results on the third.
struct Split {
  Dataset train, validation, test;
  std::vector<std::string> classes{};  ///< the name of each label, where the set has names
  std::string remark{};                ///< what was done to the images; empty: nothing
};

/// Loads a named set of images and splits it. Grey, 28 x 28: "mnist", "fashion", or "cut", the 11,000 images
/// of Fashion-MNIST that come with tinymp. In colour, 32 x 32: "cifar10". It looks for the folder (mnist,
/// fashion, fashion-mnist-cut, cifar10) in $TINYMP_DATA, in datasets/ beside the sources, and in
/// $TINYMP_DATASETS; for "fashion" also where Debian's package dataset-fashion-mnist puts it. It reads the
/// first folder with all files of the set.
///
/// Validation is a tenth of the training images, at most 5,000 (5,000 of 60,000 or of CIFAR-10's 50,000;
/// 1,000 of the cut's 10,000). The choice is random but fixed: it is the same for every seed, so that runs
/// can be compared. Both parts keep the order of the files. The test part is the test file.
///
/// "folder:PATH" is a folder of pictures: picture_folder.h tells what it looks like, what becomes of them, and
/// what is thrown.
///
/// Throws UsageError for another name, MissingError naming every place and the command that fetches the set,
/// Error when a file is damaged.
Split load_images(const std::string& name);

/// Returns the shape of a set's images by its name; reads no file, but the first pictures of a folder:PATH.
/// Throws UsageError for another name.
ImageShape image_shape(const std::string& name);

/// Counts the images of a named set by the headers of its files (CIFAR-10 has no headers and a fixed length),
/// so it costs no more than opening them. Throws like load_images, but sees damage in a header only.
std::int64_t count_images(const std::string& name);

/// "mnist (55000 train, 5000 validation, 10000 test)"; then ": " and the remark, if there is one
std::string describe(const Split& split);

}  // namespace tinymp::data
