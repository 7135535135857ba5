#include <tinymp/base/error.h>
#include <tinymp/data/gzip.h>
#include <tinymp/data/idx.h>
#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <utility>

namespace tinymp::data {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::uint32_t images_magic = 0x00000803;  // unsigned bytes, 3 dimensions
constexpr std::uint32_t labels_magic = 0x00000801;  // unsigned bytes, 1 dimension

std::string hex(std::uint32_t value) {
  std::array<char, 11> text{};
  std::snprintf(text.data(), text.size(), "0x%08x", static_cast<unsigned>(value));
  return text.data();
}

std::uint32_t big_endian(const Bytes& bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes[at + i];
  return value;
}

/// Explains what a wrong magic number says about the file.
std::string explain_magic(std::uint32_t magic, std::uint32_t wanted) {
  if (magic == labels_magic) return "this is a file of labels";
  if (magic == images_magic) return "this is a file of images";
  if (magic >> 16 != 0) return "this is no IDX file";
  const std::uint32_t type = magic >> 8 & 0xff, dimensions = magic & 0xff;
  if (type != 0x08)
    return concat("its elements are not unsigned bytes: type ", hex(type), ", expected 0x00000008");
  return concat("it has ", dimensions, " dimensions, expected ", wanted & 0xff);
}

/// Checks the magic number, and that the file has the counts.
void check_beginning(const Bytes& bytes, std::uint32_t magic, const std::string& path,
                     const std::string& mend) {
  expect(!bytes.empty(), path, ": the file is empty; ", mend);
  const std::size_t header = 4 + 4 * (magic & 0xff);
  if (bytes.size() >= 4) {
    const std::uint32_t found = big_endian(bytes, 0);
    expect(found == magic, path, ": wrong magic number: ", hex(found), ", expected ", hex(magic), " (",
           explain_magic(found, magic), "); ", mend);
  }
  expect(bytes.size() >= header, path, ": cut short: ", bytes.size(), " bytes, but the header alone takes ",
         header, "; ", mend);
}

struct Idx {
  std::vector<std::int64_t> extents;
  Bytes elements;
};

/// Reads at most one byte more than the header promises.
Idx read_idx(const std::string& path, std::uint32_t magic, const std::string& mend) {
  const std::size_t rank = magic & 0xff, header = 4 + 4 * rank;
  const Bytes beginning = read_maybe_gzip(path, mend, header);
  check_beginning(beginning, magic, path, mend);
  std::vector<std::int64_t> extents;
  std::string promised;  // "60000 x 28 x 28"
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < rank; ++i) {
    const std::uint32_t extent = big_endian(beginning, 4 + 4 * i);
    extents.push_back(extent);
    promised += (i == 0 ? "" : " x ") + std::to_string(extent);
    // The product of three 32-bit counts can pass 2^64. Then it becomes the
    // largest number, which no file reaches.
    constexpr std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    elements = extent != 0 && elements > most / extent ? most : elements * extent;
  }
  const std::uint64_t wanted = std::min<std::uint64_t>(elements, largest_file);
  Bytes bytes = read_maybe_gzip(path, mend, header + wanted + 1);
  const std::size_t found = bytes.size() - header;
  expect(found <= largest_file, path, ": larger than any data set: more than ", largest_file >> 20, " MB; ",
         mend);
  expect(found >= elements, path, ": cut short, or its count is wrong: the header promises ", promised,
         " bytes, but only ", found, " follow (expected ", elements, "); ", mend);
  expect(found == elements, path, ": too long, or its count is wrong: the header promises ", promised,
         " bytes, but more follow (expected ", elements, "); ", mend);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  return {std::move(extents), std::move(bytes)};
}

}  // namespace

std::int64_t count_idx_images(const std::string& path, const std::string& mend) {
  const Bytes bytes = read_maybe_gzip(path, mend, 16);
  check_beginning(bytes, images_magic, path, mend);
  return big_endian(bytes, 4);
}

IdxImages read_idx_images(const std::string& path, const std::string& mend) {
  Idx file = read_idx(path, images_magic, mend);
  return {file.extents[0], file.extents[1], file.extents[2], std::move(file.elements)};
}

std::vector<std::uint8_t> read_idx_labels(const std::string& path, int classes, const std::string& mend) {
  Bytes bytes = read_idx(path, labels_magic, mend).elements;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    expect(bytes[i] < classes, path, ": label ", i, " is ", static_cast<int>(bytes[i]), ", expected 0 to ",
           classes - 1, "; ", mend);
  return bytes;
}

IdxPair read_idx_pair(const std::string& images_path, const std::string& labels_path, int classes,
                      const std::string& mend) {
  IdxPair pair{read_idx_images(images_path, mend), read_idx_labels(labels_path, classes, mend)};
  const auto labels = static_cast<std::int64_t>(pair.labels.size());
  expect(pair.images.count == labels, labels_path, ": ", labels, " labels, but ", images_path, " holds ",
         pair.images.count, " images; ", mend);
  return pair;
}

}  // namespace tinymp::data
