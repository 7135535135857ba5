#include <tests/fuzz/fuzz.h>
#include <tests/fuzz/packed.h>
#include <tinymp/base/error.h>
#include <tinymp/data/cifar.h>
#include <optional>

// A file of CIFAR-10's records from elsewhere, plain or in gzip: refused, or right to the last byte.
namespace {

using namespace tinymp;

constexpr std::size_t record = 3073;

/// What a file of so many records holds; nothing when it is refused.
std::optional<data::CifarImages> images_of(std::string_view file, std::int64_t records) {
  write_own(file);
  try {
    return data::read_cifar(own_file(), records);
  } catch (const Error&) {
    return std::nullopt;
  }
}

/// The value of a pixel where the file has it: label, then plane after plane.
std::uint8_t in_file(std::string_view file, std::size_t image, std::size_t pixel, std::size_t channel) {
  return static_cast<std::uint8_t>(file[image * record + 1 + channel * 1024 + pixel]);
}

void check(std::string_view file, const data::CifarImages& images) {
  if (images.labels.size() * record != file.size()) std::abort();
  if (images.pixels.size() != images.labels.size() * (record - 1)) std::abort();
  for (std::size_t i = 0; i < images.labels.size(); ++i) {
    if (images.labels[i] > 9 || images.labels[i] != static_cast<std::uint8_t>(file[i * record])) std::abort();
    for (std::size_t p = 0; p < 1024; ++p)
      for (std::size_t c = 0; c < 3; ++c)
        if (images.pixels[(i * 1024 + p) * 3 + c] != in_file(file, i, p, c)) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file = text_of(data, size);
  for (const std::int64_t records : {0, 1, 2}) {
    const std::optional<data::CifarImages> images = images_of(file, records);
    if (is_gzip(file)) continue;
    if (images) check(file, *images);
    const std::optional<data::CifarImages> unpacked = images_of(gzip(file), records);
    if (images.has_value() != unpacked.has_value()) std::abort();
    if (images && (images->pixels != unpacked->pixels || images->labels != unpacked->labels)) std::abort();
  }
  return 0;
}
