#include <tinymp/base/error.h>
#include <tinymp/data/cifar.h>
#include <tinymp/data/gzip.h>

namespace tinymp::data {

CifarImages read_cifar(const std::string& path, std::int64_t records, const std::string& mend) {
  constexpr auto plane = static_cast<std::size_t>(cifar_shape.rows * cifar_shape.cols);
  constexpr auto channels = static_cast<std::size_t>(cifar_shape.channels);
  constexpr std::size_t record = 1 + channels * plane;
  const auto count = static_cast<std::size_t>(records);
  const std::vector<std::uint8_t> bytes = read_maybe_gzip(path, mend, count * record + 1);
  expect(bytes.size() >= count * record, path, ": cut short: ", bytes.size(), " bytes, expected ",
         count * record, " (", count, " records of ", record, "); ", mend);
  expect(bytes.size() == count * record, path, ": too long: more than the expected ", count * record,
         " bytes (", count, " records of ", record, "); ", mend);

  CifarImages images;
  images.labels.reserve(count);
  images.pixels.resize(count * channels * plane);
  std::uint8_t* out = images.pixels.data();
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint8_t* in = bytes.data() + i * record;
    expect(*in < image_classes, path, ": the label of record ", i, " (counted from 0, at byte ", i * record,
           ") is ", static_cast<int>(*in), ", expected 0 to ", image_classes - 1, "; ", mend);
    images.labels.push_back(*in++);
    for (std::size_t pixel = 0; pixel < plane; ++pixel)
      for (std::size_t channel = 0; channel < channels; ++channel) *out++ = in[channel * plane + pixel];
  }
  return images;
}

}  // namespace tinymp::data
