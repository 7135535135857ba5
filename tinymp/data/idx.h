#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// IDX, the file format of MNIST: a magic number that holds the element type and the number of dimensions,
/// one big-endian 32-bit count for each dimension, then the elements, row by row. Plain or in gzip; the
/// reader looks at the first bytes, not at the file's name. Source: LeCun, Cortes, Burges: The MNIST
/// database, "file formats".
///
///   images (idx3)  00 00 08 03 | images | rows | columns | one byte a pixel, 0 background .. 255 ink
///   labels (idx1)  00 00 08 01 | labels | one byte a label
///
/// The reader is strict: a file is right to the last byte, or an Error names the file, what was expected,
/// what was found, and `mend`, half a sentence that says how to get a good copy. A file that does not exist
/// is a MissingError.
namespace tinymp::data {

inline constexpr const char* mend_mnist = "fetch it again with ./learn data mnist";

struct IdxImages {
  std::int64_t count = 0, rows = 0, cols = 0;
  std::vector<std::uint8_t> pixels;  ///< (count, rows, cols)
};

IdxImages read_idx_images(const std::string& path, const std::string& mend = mend_mnist);

/// Counts the images of a file by its header: reads 16 bytes and does not check the rest.
std::int64_t count_idx_images(const std::string& path, const std::string& mend = mend_mnist);

/// Reads a file of labels, 0 .. classes-1.
std::vector<std::uint8_t> read_idx_labels(const std::string& path, int classes = 10,
                                          const std::string& mend = mend_mnist);

struct IdxPair {
  IdxImages images;
  std::vector<std::uint8_t> labels;  ///< one for each image
};

/// Reads both files of a set. Throws Error when their counts differ.
IdxPair read_idx_pair(const std::string& images_path, const std::string& labels_path, int classes = 10,
                      const std::string& mend = mend_mnist);

}  // namespace tinymp::data
