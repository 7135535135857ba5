#pragma once

#include <tinymp/data/dataset.h>
#include <cstdint>
#include <string>
#include <vector>

/// The binary version of CIFAR-10: records of one length and nothing else. Source: Krizhevsky, "Learning
/// multiple layers of features from tiny images", 2009, and the page of the data set.
///
///   a file    10,000 records of 3,073 bytes
///   a record  label 0 .. 9 | 1,024 bytes red | 1,024 green | 1,024 blue, each plane 32 x 32, row by row
///
/// The reader is as strict as idx.h: a file is right to the last byte, or an Error says what is wrong, where,
/// and how to mend it.
namespace tinymp::data {

inline constexpr ImageShape cifar_shape{.rows = 32, .cols = 32, .channels = 3};
inline constexpr std::int64_t cifar_records = 10'000;  ///< in each of the six files
inline constexpr const char* mend_cifar = "fetch it again with ./learn data cifar10";

struct CifarImages {
  std::vector<std::uint8_t> pixels;  ///< (N,32,32,3): the channels of a pixel side by side
  std::vector<std::uint8_t> labels;  ///< (N)
};

/// Reads one file, plain or in gzip.
CifarImages read_cifar(const std::string& path, std::int64_t records = cifar_records,
                       const std::string& mend = mend_cifar);

}  // namespace tinymp::data
