#include <tinymp/base/error.h>
#include <tinymp/data/picture.h>
#include <tinymp/data/picture_header.h>
#include <algorithm>
#include <array>
#include <string_view>

// A JPEG is markers, FF and a byte. Most are followed by a length of two bytes and so many bytes; after SOS the
// coded pixels follow, in which FF is written as FF 00 and RST0 .. RST7 may stand.
namespace tinymp::data {
namespace {

using File = std::span<const std::uint8_t>;

constexpr int most_scans = 50;  // a progressive file has about 10, and each costs a pass over all blocks

std::int64_t number16(File bytes, std::size_t at, bool big = true) {
  return big ? bytes[at] << 8 | bytes[at + 1] : bytes[at + 1] << 8 | bytes[at];
}

std::size_t number32(File bytes, std::size_t at, bool big) {
  const auto high = static_cast<std::size_t>(number16(bytes, big ? at : at + 2, big));
  return high << 16 | static_cast<std::size_t>(number16(bytes, big ? at + 2 : at, big));
}

/// The Orientation in an APP1 segment of EXIF: a TIFF header, then entries of 12 bytes. 1 when there is none, or
/// none that can be read: a photograph with strange EXIF is shown as it is stored.
int orientation_in(File segment) {
  constexpr std::string_view name("Exif\0\0", 6);
  if (segment.size() < name.size() + 8 ||
      !std::ranges::equal(segment.first(name.size()), name, {}, {}, [](char c) { return std::uint8_t(c); }))
    return 1;
  const File tiff = segment.subspan(name.size());
  const bool big = tiff[0] == 'M';
  const std::size_t at = number32(tiff, 4, big);
  if (at > tiff.size() || tiff.size() - at < 2) return 1;
  const auto entries = static_cast<std::size_t>(number16(tiff, at, big));
  for (std::size_t i = 0; i < entries && tiff.size() - at - 2 >= (i + 1) * 12; ++i) {
    const std::size_t entry = at + 2 + i * 12;
    if (number16(tiff, entry, big) != 0x0112) continue;
    const std::int64_t value = number16(tiff, entry + 8, big);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

class Walk {
 public:
  Walk(File file, const std::string& path) : file_(file), path_(path) {}

  PictureHeader all() {
    for (at_ = 2;;) {
      const int marker = next_marker();
      if (marker == 0xD9) break;
      if (marker == 0x01 || (marker >= 0xD0 && marker <= 0xD7)) continue;
      const File segment = next_segment();
      if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC)
        read_frame(segment, marker);
      if (marker == 0xC4) read_tables(segment);
      if (marker == 0xE1 && header_.orientation == 1) header_.orientation = orientation_in(segment);
      if (marker != 0xDA) continue;
      expect_tables(segment);
      skip_scan();
    }
    expect(scans_ > 0, path_, ": damaged: a JPEG without pixels; ", mend_picture);
    // The component with most blocks has one for 8 x 8 pixels, and each takes a bit at least.
    expect(header_.rows * header_.cols / 512 <= static_cast<std::int64_t>(file_.size()), path_,
           ": damaged: ", file_.size(), " bytes cannot hold the ", header_.rows, " x ", header_.cols,
           " pixels that it promises; ", mend_picture);
    return header_;
  }

 private:
  void need(std::size_t bytes) const {
    expect(file_.size() - at_ >= bytes, path_, ": cut short: the file ends before its picture does; ",
           mend_picture);
  }

  int next_marker() {
    need(2);
    expect(file_[at_] == 0xFF, path_, ": damaged: no marker at byte ", at_, "; ", mend_picture);
    while (file_[at_] == 0xFF) {
      ++at_;
      need(1);
    }
    return file_[at_++];
  }

  File next_segment() {
    need(2);
    const auto length = static_cast<std::size_t>(number16(file_, at_));
    expect(length >= 2, path_, ": damaged: a segment of ", length, " bytes at byte ", at_, "; ",
           mend_picture);
    need(length);
    const File segment = file_.subspan(at_ + 2, length - 2);
    at_ += length;
    return segment;
  }

  /// Reads a frame header (SOFn): bits, rows, columns, components.
  void read_frame(File segment, int marker) {
    expect(marker <= 0xC2, path_, ": a JPEG of a rare kind (SOF", marker - 0xC0, "), which is not read; ",
           mend_picture);
    expect(segment.size() >= 6 && header_.rows == 0, path_, ": damaged: its frame header is wrong; ",
           mend_picture);
    is_progressive_ = marker == 0xC2;
    header_.rows = number16(segment, 1);
    header_.cols = number16(segment, 3);
    const int components = segment[5];
    expect(components != 4, path_, ": a JPEG in CMYK, for printing; save it in RGB");
    expect(components == 1 || components == 3, path_, ": damaged: a JPEG of ", components, " components; ",
           mend_picture);
  }

  /// Huffman tables (DHT): class (0 DC, 1 AC) and number, 16 counts of codes by length, the values. stb_image 2.27 does
  /// not check that there are at most 256.
  void read_tables(File segment) {
    while (!segment.empty()) {
      std::size_t count = 0;
      for (std::size_t i = 1; i < 17 && i < segment.size(); ++i) count += segment[i];
      expect(segment.size() >= 17 + count && count <= 256, path_, ": damaged: a Huffman table of ", count,
             " codes; ", mend_picture);
      has_table_[segment[0] >> 4 & 1][segment[0] & 15] = true;
      segment = segment.subspan(17 + count);
    }
  }

  /// The beginning of a scan (SOS): the components, each with the numbers of its tables, and which coefficients follow.
  /// stb_image 2.27 decodes with whatever lies in memory where a table was not given.
  void expect_tables(File segment) const {
    const std::size_t components = segment.empty() ? 0 : segment[0];
    expect(components >= 1 && segment.size() == 4 + 2 * components, path_,
           ": damaged: the header of a scan is wrong; ", mend_picture);
    const bool begins_with_dc = segment[1 + 2 * components] == 0,
               refines = segment[3 + 2 * components] >> 4 != 0;
    for (std::size_t i = 0; i < components; ++i) {
      const std::size_t tables = segment[2 + 2 * i];
      const bool dc = !is_progressive_ || (begins_with_dc && !refines),
                 ac = !is_progressive_ || !begins_with_dc;
      expect((!dc || has_table_[0][tables >> 4]) && (!ac || has_table_[1][tables & 15]), path_,
             ": damaged: its pixels want a Huffman table that it lacks; ", mend_picture);
    }
  }

  void skip_scan() {
    expect(header_.rows > 0, path_, ": damaged: pixels before the size of the picture; ", mend_picture);
    expect(++scans_ <= most_scans, path_, ": more than ", most_scans, " scans; ", mend_picture);
    for (;; ++at_) {
      need(2);
      const int next = file_[at_ + 1];
      if (file_[at_] == 0xFF && next != 0 && !(next >= 0xD0 && next <= 0xD7)) return;
    }
  }

  File file_;
  const std::string& path_;
  std::size_t at_ = 0;
  int scans_ = 0;
  bool is_progressive_ = false;
  std::array<std::array<bool, 16>, 2> has_table_{};  ///< by class and number, so far
  PictureHeader header_{.format = PictureFormat::jpeg};
};

}  // namespace

PictureHeader inspect_jpeg(File file, const std::string& path) { return Walk(file, path).all(); }

}  // namespace tinymp::data
