#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <tinymp/tensor/device_value.h>
#include <limits>
#include <utility>

/// Sums, losses and counts over whole tensors: near exact arithmetic, and the same bits for any number of
/// threads.
namespace tinymp::test {
namespace {

constexpr DType formats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};

DType wide_of(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

Tensor sum_of(const Tensor& x) {
  Tensor y(Shape{}, wide_of(x.dtype()));
  kernels::sum(x.view(), 1, y.view());
  return y;
}

TEST_CASE("a sum keeps its fixed order: the bits are those of 16 lanes and a tree") {
  for (const std::int64_t n : {0, 1, 2, 15, 16, 17, 1023, 1024, 1025, 5000, 100003, 1050001}) {
    for (const DType dtype : {DType::f16, DType::f32}) {
      const Tensor x = drawn({n}, dtype, 11, 1000);
      INFO(dtype << ", " << n << " values");
      CHECK(sum_of(x).item() == static_cast<double>(sum_in_lanes(x.to_floats())));
    }
  }
}

TEST_CASE("sums are within their bound of the exact sum, in FP32 for f16") {
  for (const DType dtype : formats) {
    for (const std::int64_t n : {1, 17, 1000, 100003}) {
      const Tensor x = drawn({n}, dtype, 12, 1000);
      long double exact = 0, magnitude = 0;
      for (const double v : x.to_doubles()) {
        exact += static_cast<long double>(v);
        magnitude += std::fabs(static_cast<long double>(v));
      }
      const long double roundings = 2 * (64 + 4);
      CHECK(std::fabs(static_cast<long double>(sum_of(x).item()) - exact) <=
            roundings * static_cast<long double>(unit_roundoff(dtype)) * magnitude);
    }
  }
  const Tensor ones = from(std::vector<double>(100000, 1), DType::f16);
  CHECK(sum_of(ones).item() == 100000);  // f16 ends at 65504, and would stop counting at 2048
}

TEST_CASE("column sums: each column by itself, from the first row to the last, by 128 of them") {
  for (const DType dtype : formats) {
    for (const Shape& shape :
         {Shape{3, 5}, Shape{1, 1}, Shape{200, 63}, Shape{200, 64}, Shape{7, 65}, Shape{300, 200},
          Shape{0, 4}, Shape{4, 0}, Shape{128, 3}, Shape{129, 17}, Shape{13000, 10}, Shape{9000, 130}}) {
      const Tensor x = drawn(shape, dtype, 13);
      Tensor y({shape[1]}, dtype);
      kernels::column_sums(x.view(), y.view());
      const std::vector<double> v = x.to_doubles(), got = y.to_doubles();
      for (std::int64_t c = 0; c < shape[1]; ++c) {
        double expected = 0, wide_chunk = 0;
        float narrow = 0, narrow_chunk = 0;
        for (std::int64_t row = 0; row < shape[0]; ++row) {
          const double value = v[static_cast<std::size_t>(row * shape[1] + c)];
          wide_chunk += value;
          narrow_chunk += static_cast<float>(value);
          if (row % 128 != 127 && row + 1 != shape[0]) continue;
          expected += std::exchange(wide_chunk, 0);
          narrow += std::exchange(narrow_chunk, 0.0f);
        }
        if (dtype != DType::f64) expected = rounded_to(dtype, static_cast<long double>(narrow));
        INFO(dtype << shape << ", column " << c);
        REQUIRE(same_bits(got[static_cast<std::size_t>(c)], expected));
      }
    }
  }
}

TEST_CASE("sums and losses give the same bits for 1, 2, 3 and 7 threads") {
  for (const DType dtype : formats) {
    const Tensor x = drawn({700, 150}, dtype, 14), target = drawn({700, 150}, wide_of(dtype), 15);
    std::vector<std::int32_t> labels;
    for (int b = 0; b < 700; ++b) labels.push_back((b * 7) % 150);
    INFO(dtype);
    CHECK(same_for_all_threads([&] { return sum_of(x); }));
    CHECK(same_for_all_threads([&] {
      Tensor y({150}, dtype);
      kernels::column_sums(x.view(), y.view());
      return y;
    }));
    CHECK(same_for_all_threads([&] {
      Tensor loss(Shape{}, wide_of(dtype));
      kernels::mse(x.view(), target.view(), loss.view());
      return loss;
    }));
    const Tensor one = from({1}, wide_of(dtype));
    CHECK(same_for_all_threads([&] {
      Tensor dx(x.shape(), dtype);
      kernels::mse_backward(x.view(), target.view(), one.view(), dx.view());
      return dx;
    }));
    const Tensor tops({700}, wide_of(dtype)), log_sums({700}, wide_of(dtype));
    CHECK(same_for_all_threads([&] {
      Tensor loss(Shape{}, wide_of(dtype));
      kernels::cross_entropy(x.view(), labels, tops.view(), log_sums.view(), loss.view());
      return loss;
    }));
    CHECK(same_for_all_threads([&] {
      Tensor dx(x.shape(), dtype);
      kernels::cross_entropy_backward(x.view(), labels, tops.view(), log_sums.view(), one.view(), dx.view());
      return dx;
    }));
  }
}

TEST_CASE("the gradient of cross_entropy adds up to 0 over each row, and is bounded by 1/B") {
  const Tensor x = drawn({8, 10}, DType::f32, 16, 30);
  const std::vector<std::int32_t> labels{0, 1, 2, 3, 4, 5, 6, 7};
  Tensor tops({8}), log_sums({8}), loss(Shape{}), dx(x.shape());
  kernels::cross_entropy(x.view(), labels, tops.view(), log_sums.view(), loss.view());
  const Tensor one = from({1}, DType::f32);
  kernels::cross_entropy_backward(x.view(), labels, tops.view(), log_sums.view(), one.view(), dx.view());
  const std::vector<float> g = dx.to_floats();
  for (std::size_t b = 0; b < 8; ++b) {
    double sum = 0;
    for (std::size_t c = 0; c < 10; ++c) {
      const double v = static_cast<double>(g[b * 10 + c]);
      sum += v;
      CHECK(std::fabs(v) <= 1.0 / 8);
      CHECK((v <= 0) == (static_cast<int>(c) == labels[b]));
    }
    CHECK(std::fabs(sum) < 1e-6);
  }
}

// Counts over the gradients.
// ------------------------------------------------------------------------------------------

kernels::GradientCounts scan(const Tensor& x) {
  const DeviceValue<kernels::GradientCounts> found(x.device(), {});
  const DeviceValue<ScaleState> scale(x.device(), {});
  const DeviceValue<float> factor(x.device());
  kernels::unscale(x.view(), scale.cell(), found.cell(), factor.cell());
  return found.read();
}

TEST_CASE("scan counts zeros, subnormals and what is not finite, of either sign") {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  struct Edge {
    DType dtype;
    double smallest, below_normal, normal, largest;
  };
  for (const Edge& e :
       {Edge{DType::f16, 0x1p-24, 0x1.ff8p-15, 0x1p-14, 65504},
        Edge{DType::bf16, 0x1p-133, 0x1.fcp-127, 0x1p-126, 0x1.fep127},
        Edge{DType::f32, 0x1p-149, 0x1.fffffcp-127, 0x1p-126, 0x1.fffffep127},
        Edge{DType::f64, 0x1p-1074, 0x1.ffffffffffffep-1023, 0x1p-1022, 0x1.fffffffffffffp1023}}) {
    const Tensor x = from({0, -0.0, e.smallest, -e.smallest, e.below_normal, -e.below_normal, e.normal,
                           -e.normal, 1, -1, e.largest, -e.largest, infinity, -infinity, nan},
                          e.dtype);
    const kernels::GradientCounts found = scan(x);
    INFO(e.dtype);
    CHECK(found.values == 15);
    CHECK(found.zeros == 2);
    CHECK(found.subnormals == 4);
    CHECK(found.nonfinite == 3);
  }
}

TEST_CASE("scan counts every half exactly, over many threads") {
  const int usual = threads();
  for (const int count : {1, 3}) {
    set_threads(count);
    const kernels::GradientCounts found = scan(all_halves());
    CHECK(found.values == 65536);
    CHECK(found.zeros == 2);
    CHECK(found.subnormals == 2 * 1023);
    CHECK(found.nonfinite == 2 * 1024);
  }
  set_threads(usual);
  CHECK(scan(Tensor({0}, DType::f16)).values == 0);
}

TEST_CASE("count_flushed counts what is zero here and not in the shadow") {
  const Tensor narrow = from({0, 0, -0.0, 1, 0, 0x1p-24}, DType::f16);
  const Tensor shadow = from({1e-9, 0, -1e-30, 1, -0.0, 0}, DType::f32);
  const auto counts = [](const Tensor& x, const Tensor& of) {
    const DeviceValue<kernels::FlushCounts> found(x.device(), {});
    kernels::count_flushed(x.view(), of.view(), found.cell());
    return std::pair(found.read().flushed, found.read().values);
  };
  CHECK(counts(narrow, shadow) == std::pair<std::int64_t, std::int64_t>(2, 3));
  const Tensor many = from(std::vector<double>(50000, 0), DType::f16),
               ones = from(std::vector<double>(50000, 1), DType::f32);
  CHECK(counts(many, ones) == std::pair<std::int64_t, std::int64_t>(50000, 50000));
  CHECK(counts(many, many) == std::pair<std::int64_t, std::int64_t>(0, 0));
}

TEST_CASE("count_flushed adds to what was counted before") {
  const DeviceValue<kernels::FlushCounts> found(Device::cpu, {});
  const Tensor zero = from({0, 0}, DType::f16), one = from({1, 0}, DType::f32);
  for (int i = 0; i < 3; ++i) kernels::count_flushed(zero.view(), one.view(), found.cell());
  CHECK(found.read().values == 3);
  CHECK(found.read().flushed == 3);
}

/// The norm of factor x, and the factor after clipping.
std::pair<double, float> clip(const Tensor& x, float max_norm, float factor) {
  const DeviceValue<float> f(x.device(), factor);
  const Tensor norm(Shape{}, DType::f32, x.device());
  kernels::clip(x.view(), max_norm, f.cell(), norm.view());
  return {norm.item(), f.read()};
}

TEST_CASE("the norm is of factor times x, summed in f64: f32 would overflow") {
  const Tensor x = from({3, 4}, DType::f16);
  CHECK(clip(x, 100, 0.5f) == std::pair(2.5, 0.5f));
  CHECK(clip(x, 1, 0.5f).first == 2.5);
  CHECK(clip(x, 1, 0.5f).second == Approx(0.2).epsilon(1e-5));
  const Tensor large = from(std::vector<double>(5000, 1e30), DType::f32);
  CHECK(clip(large, 1, 1).first == Approx(7.0710678e31));
  CHECK(clip(Tensor(Shape{0}), 1, 1) == std::pair(0.0, 1.0f));
  const Tensor many = drawn({100000}, DType::f32, 17);
  CHECK(same_for_all_threads([&] { return from({clip(many, 1, 0.7f).first}, DType::f64); }));
}

}  // namespace
}  // namespace tinymp::test
