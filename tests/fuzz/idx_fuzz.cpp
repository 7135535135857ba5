#include <tests/fuzz/fuzz.h>
#include <tests/fuzz/packed.h>
#include <tinymp/base/error.h>
#include <tinymp/data/idx.h>
#include <algorithm>
#include <optional>

// A file of MNIST's kind from elsewhere, plain or in gzip: refused, or right to the last byte.
namespace {

using namespace tinymp;

/// What a file holds; nothing when it is refused.
std::optional<data::IdxImages> images_of(std::string_view file) {
  write_own(file);
  try {
    return data::read_idx_images(own_file());
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<std::vector<std::uint8_t>> labels_of(std::string_view file) {
  write_own(file);
  try {
    return data::read_idx_labels(own_file());
  } catch (const Error&) {
    return std::nullopt;
  }
}

bool is(std::string_view file, const std::vector<std::uint8_t>& elements, std::size_t header) {
  return file.size() == header + elements.size() &&
         std::ranges::equal(elements, file.substr(header), {}, {},
                            [](char c) { return static_cast<std::uint8_t>(c); });
}

/// count x rows x columns pixels, where that product may pass 2^64.
bool holds(const data::IdxImages& images) {
  std::int64_t left = static_cast<std::int64_t>(images.pixels.size());
  if (left == 0) return images.count == 0 || images.rows == 0 || images.cols == 0;
  for (const std::int64_t extent : {images.count, images.rows, images.cols}) {
    if (extent < 1 || left % extent != 0) return false;
    left /= extent;
  }
  return left == 1;
}

void count(std::string_view file, const std::optional<data::IdxImages>& images) {
  write_own(file);
  try {
    const std::int64_t counted = data::count_idx_images(own_file());
    if (counted < 0 || (images && counted != images->count)) std::abort();
  } catch (const Error&) {
    if (images) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view file = text_of(data, size);
  const std::optional<data::IdxImages> images = images_of(file);
  const std::optional<std::vector<std::uint8_t>> labels = labels_of(file);
  count(file, images);
  if (is_gzip(file)) return 0;
  if (images && (!is(file, images->pixels, 16) || !holds(*images))) std::abort();
  if (labels && (!is(file, *labels, 8) || std::ranges::any_of(*labels, [](int l) { return l > 9; })))
    std::abort();
  // The same in gzip is the same.
  const std::string packed = gzip(file);
  const std::optional<data::IdxImages> unpacked = images_of(packed);
  if (images.has_value() != unpacked.has_value() || labels != labels_of(packed)) std::abort();
  if (images && images->pixels != unpacked->pixels) std::abort();
  return 0;
}
