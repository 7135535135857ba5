#include <tinymp/optim/split_norm.h>

#include <kernels/kernels.h>
#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <cmath>

/// The norm of an array in parts has the bits of the norm of the whole, wherever the parts end.
namespace tinymp::test {
namespace {

/// The norm that clipping in one process takes.
float norm_of(const Tensor& x, float factor) {
  DeviceValue<float> cell(Device::cpu, factor);
  const Tensor norm(Shape{}, DType::f32);
  kernels::clip(x.view(), 1e30f, cell.cell(), norm.view());
  return static_cast<float>(norm.item());
}

Tensor made_up(std::int64_t size, DType dtype) {
  Rng rng(3);
  std::vector<float> values;
  for (std::int64_t i = 0; i < size; ++i) values.push_back(static_cast<float>(rng.below(2000)) / 7 - 100);
  return Tensor::from({size}, values, dtype);
}

double in_parts(const Tensor& x, float factor, const std::vector<std::int64_t>& ends) {
  std::vector<ElementRange> ranges;
  std::vector<std::vector<double>> told;
  for (const std::int64_t end : ends) {
    const std::int64_t begin = ranges.empty() ? 0 : ranges.back().end;
    ranges.push_back({begin, end});
    told.push_back(squares_of(x.slice(begin, Shape{end - begin}), factor, ranges.back(), x.size()));
  }
  return sum_of_squares(told, ranges, x.size());
}

TEST_CASE("split norm: the bits of the norm of the whole") {
  constexpr float factor = 1.0f / 3;
  for (const DType dtype : {DType::f32, DType::f16})
    for (const std::int64_t size : {1, 700, 1024, 1025, 5000, 2'500'000}) {
      const Tensor x = made_up(size, dtype);
      const float expected = norm_of(x, factor);
      CHECK(expected > 0);
      for (const std::vector<std::int64_t>& ends :
           {std::vector<std::int64_t>{size},
            {size / 2, size},
            {size / 3, size / 2, size},
            {0, std::min<std::int64_t>(size, 1024), size},
            {size / 9, size / 8, size / 7, size / 6, size - 1, size}}) {
        INFO(size << " values of " << dtype << " in " << ends.size() << " parts, the first of " << ends[0]);
        CHECK(static_cast<float>(std::sqrt(in_parts(x, factor, ends))) == expected);
      }
    }
}

TEST_CASE("split norm: a value that is not finite is that of all") {
  std::vector<float> values(3000, 1);
  values[2500] = std::numeric_limits<float>::infinity();
  CHECK(std::isinf(in_parts(Tensor::from({3000}, values), 1, {1500, 3000})));
}

}  // namespace
}  // namespace tinymp::test
