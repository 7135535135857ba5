#include <zlib.h>

#include <tests/fuzz/fuzz.h>
#include <tinymp/base/error.h>
#include <tinymp/data/digit.h>
#include <tinymp/data/picture.h>
#include <tinymp/data/resize.h>
#include <vector>

// A picture of somebody else, decoded, and made into what a network sees.
namespace {

using namespace tinymp;

void show(const std::vector<std::uint8_t>& file) {
  try {
    const data::Picture picture = data::decode_picture(file, "picture");
    if (picture.pixels.size() != static_cast<std::size_t>(picture.shape.size())) std::abort();
    if (picture.shape.size() > 1 << 18) return;  // decoded; what follows costs time in proportion
    (void)data::is_coloured(picture);
    if (data::colour_32x32(picture).pixels.size() != 3072) std::abort();
    if (data::grey_28x28(picture).pixels.size() != 784) std::abort();
    if (data::read_digit(picture).image.pixels.size() != 784) std::abort();
  } catch (const Error&) {
  }
}

/// A PNG with the checksums that its chunks want: without them no changed byte gets to the decoder.
std::vector<std::uint8_t> with_checksums(std::vector<std::uint8_t> file) {
  for (std::size_t at = 8; file.size() >= 12 && at <= file.size() - 12;) {
    const std::size_t length = std::size_t{file[at]} << 24 | std::size_t{file[at + 1]} << 16 |
                               std::size_t{file[at + 2]} << 8 | file[at + 3];
    if (length > file.size() - at - 12) break;
    const auto sum = crc32_z(0, file.data() + at + 4, length + 4);
    for (std::size_t i = 0; i < 4; ++i)
      file[at + 8 + length + i] = static_cast<std::uint8_t>(sum >> (24 - 8 * i) & 0xff);
    at += 12 + length;
  }
  return file;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::uint8_t> file(data, data + size);
  show(file);
  if (size > 0 && file[0] == 0x89) show(with_checksums(file));
  return 0;
}
