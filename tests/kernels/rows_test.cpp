#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <limits>

/// Kernels that work on whole rows: sums in the order that row_chunks.h fixes, what is not a number, and the
/// same bits for any number of threads.
namespace tinymp::test {
namespace {

constexpr DType formats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};
constexpr double nan = std::numeric_limits<double>::quiet_NaN(),
                 infinity = std::numeric_limits<double>::infinity();

using Values = std::vector<double>;

Tensor one_a_row(const Tensor& x) { return Tensor({x.shape()[0]}, x.dtype()); }

/// A matrix of one row.
Tensor row_of(const Values& values, DType dtype) {
  return from(values, dtype).viewed_as({1, static_cast<std::int64_t>(values.size())});
}

TEST_CASE("row_sums adds along each row in its order, each addition rounded, and rounds once more") {
  for (const Accumulation& how :
       {Accumulation{}, Accumulation{.chunk = 7}, Accumulation{.format = DType::f16},
        Accumulation{.format = DType::f16, .chunk = 64}}) {
    for (const Shape& shape : {Shape{1, 1}, Shape{300, 10}, Shape{65, 129}, Shape{3, 9001}}) {
      for (const DType dtype : formats) {
        const Tensor x = drawn(shape, dtype, 31), y = one_a_row(x);
        kernels::row_sums(x.view(), how, y.view());
        const Values values = x.to_doubles(), got = y.to_doubles();
        const auto columns = static_cast<std::ptrdiff_t>(shape[1]);
        for (std::ptrdiff_t b = 0; b < shape[0]; ++b) {
          const Values row(values.begin() + b * columns, values.begin() + (b + 1) * columns);
          const double exact = sum_of_row(row, how, dtype == DType::f64);
          INFO(dtype << shape << ", sums in " << how.format << ", chunk " << how.chunk << ", row " << b);
          REQUIRE(same_bits(got[static_cast<std::size_t>(b)],
                            rounded_to(dtype, static_cast<long double>(exact))));
        }
      }
    }
  }
}

TEST_CASE("row_sums of 5000 ones is 2048 when they are summed in FP16, and no sum of 0 values is left out") {
  const Tensor ones = Tensor::from({1, 5000}, std::vector<float>(5000, 1), DType::f16);
  const auto sum = [&](const Accumulation& how) {
    const Tensor y = one_a_row(ones);
    kernels::row_sums(ones.view(), how, y.view());
    return y.item();
  };
  CHECK(sum({}) == 5000);
  CHECK(sum({.format = DType::f16}) == 2048);
  CHECK(sum({.format = DType::f16, .chunk = 64}) == 5000);
  const Tensor none({2, 0}, DType::f32), zero = from({7, 7}, DType::f32);
  kernels::row_sums(none.view(), {}, zero.view());
  CHECK(zero.to_doubles() == Values{0, 0});
}

TEST_CASE("row_max: NaN counts as largest, and the gradient goes to the first of equals or of NaNs") {
  const std::vector<std::pair<Values, std::size_t>> rows{
      {{1, 3, 2}, 1},       {{3, 1, 3}, 0},     {{nan, 5, 6}, 0}, {{5, nan, nan}, 1},
      {{-2, -1, nan}, 2},   {{infinity, 1}, 0}, {{-infinity}, 0}, {{-infinity, -infinity}, 0},
      {{infinity, nan}, 1}, {{-0.0, 0.0}, 0}};
  for (const DType dtype : formats) {
    for (const auto& [values, place] : rows) {
      const Tensor x = row_of(values, dtype), y = one_a_row(x), dy = from({4}, dtype), dx(x.shape(), dtype);
      kernels::row_max(x.view(), y.view());
      kernels::row_max_backward(x.view(), dy.view(), dx.view());
      Values expected(values.size(), 0);
      expected[place] = 4;
      INFO(dtype << ", row that begins with " << values[0] << " and has " << values.size());
      CHECK(same_bits(y.item(), values[place]));
      CHECK(dx.to_doubles() == expected);
    }
  }
}

TEST_CASE("softmax and log_softmax of rows with infinities and NaN") {
  for (const DType dtype : formats) {
    const auto of = [&](auto kernel, const Values& values) {
      const Tensor x = row_of(values, dtype), y(x.shape(), dtype);
      kernel(x.view(), y.view());
      return y.to_doubles();
    };
    INFO(dtype);
    CHECK(of(kernels::softmax, {3, -infinity, 3}) == Values{0.5, 0, 0.5});  // a class that is never meant
    CHECK(of(kernels::log_softmax, {3, -infinity})[0] == 0);
    CHECK(of(kernels::log_softmax, {3, -infinity})[1] == -infinity);
    CHECK(of(kernels::softmax, {60000, 0, -60000}) == Values{1, 0, 0});
    for (const Values& bad : {Values{1, nan, 2}, Values{infinity, infinity}, Values{-infinity, -infinity}}) {
      for (const double v : of(kernels::softmax, bad)) CHECK(std::isnan(v));
      for (const double v : of(kernels::log_softmax, bad)) CHECK(std::isnan(v));
    }
  }
}

DType wide_of(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

struct RowMoments {
  Tensor mean, variance;
};
RowMoments moments_of(const Tensor& x, const Accumulation& how) {
  const RowMoments found{Tensor({x.shape()[0]}, wide_of(x.dtype())),
                         Tensor({x.shape()[0]}, wide_of(x.dtype()))};
  kernels::row_moments(x.view(), how, found.mean.view(), found.variance.view());
  return found;
}

/// In double where f64, in float elsewhere.
template <class C>
void check_moments(const Tensor& x, const Accumulation& how) {
  const bool f64 = x.dtype() == DType::f64;
  const RowMoments found = moments_of(x, how);
  const Values values = x.to_doubles();
  const auto columns = static_cast<std::size_t>(x.shape()[1]);
  for (std::size_t b = 0; b < values.size() / columns; ++b) {
    Values terms(&values[b * columns], &values[b * columns] + columns);
    const C mean = static_cast<C>(sum_of_row(terms, how, f64)) / static_cast<C>(columns);
    for (double& t : terms) {
      const C d = static_cast<C>(t) - mean;
      t = static_cast<double>(d * d);
    }
    const C variance = static_cast<C>(sum_of_row(terms, how, f64)) / static_cast<C>(columns);
    INFO(x.dtype() << x.shape() << ", sums in " << how.format << ", chunk " << how.chunk << ", row " << b);
    REQUIRE(same_bits(found.mean.to_doubles()[b], static_cast<double>(mean)));
    REQUIRE(same_bits(found.variance.to_doubles()[b], static_cast<double>(variance)));
  }
}

TEST_CASE("layer norm: mean and variance of a row are summed in their order, each addition rounded") {
  for (const Accumulation& how : {Accumulation{}, Accumulation{.format = DType::f16},
                                  Accumulation{.format = DType::f16, .chunk = 64}}) {
    for (const Shape& shape : {Shape{2, 1}, Shape{200, 63}, Shape{3, 4099}}) {
      for (const DType dtype : {DType::f16, DType::bf16, DType::f32})
        check_moments<float>(drawn(shape, dtype, 35), how);
      check_moments<double>(drawn(shape, DType::f64, 35), how);
    }
  }
}

TEST_CASE("layer norm: the same bits for 1, 2, 3 and 7 threads") {
  for (const Accumulation& how : {Accumulation{}, Accumulation{.format = DType::f16, .chunk = 64}}) {
    for (const DType dtype : formats) {
      for (const Shape& shape : {Shape{3000, 16}, Shape{40, 1100}}) {
        const Tensor x = drawn(shape, dtype, 36), dy = drawn(shape, dtype, 37);
        const Tensor gamma = drawn({shape[1]}, dtype, 38), beta = drawn({shape[1]}, dtype, 39);
        const RowMoments by = moments_of(x, how);
        const kernels::Normalizer normalizer{by.mean.view(), by.variance.view(), 1e-5};
        const auto sums = [&](bool of_gamma) {
          const Tensor dgamma(gamma.shape(), wide_of(dtype)), dbeta(gamma.shape(), wide_of(dtype));
          kernels::layer_norm_sums(x.view(), normalizer, dy.view(), how, dgamma.view(), dbeta.view());
          return of_gamma ? dgamma : dbeta;
        };
        INFO(dtype << shape << ", sums in " << how.format);
        CHECK(same_for_all_threads([&] { return moments_of(x, how).mean; }));
        CHECK(same_for_all_threads([&] { return moments_of(x, how).variance; }));
        CHECK(same_for_all_threads([&] { return sums(true); }));
        CHECK(same_for_all_threads([&] { return sums(false); }));
        CHECK(same_for_all_threads([&] {
          const Tensor y(shape, dtype);
          kernels::layer_norm(x.view(), normalizer, gamma.view(), beta.view(), y.view());
          return y;
        }));
        CHECK(same_for_all_threads([&] {
          const Tensor dx(shape, dtype);
          kernels::layer_norm_dx(x.view(), normalizer, gamma.view(), dy.view(), how, dx.view());
          return dx;
        }));
      }
    }
  }
}

TEST_CASE("dropout: the same mask for 1, 2, 3 and 7 threads") {
  const Tensor x = drawn({100003}, DType::f16, 40), step = from({5}, DType::f64).viewed_as(Shape{});
  CHECK(same_for_all_threads([&] {
    const Tensor y(x.shape(), DType::f16);
    kernels::dropout(x.view(), 0.4f, 1, step.view(), y.view());
    return y;
  }));
}

TEST_CASE("kernels of rows give the same bits for 1, 2, 3 and 7 threads") {
  for (const DType dtype : formats) {
    for (const Shape& shape : {Shape{3000, 10}, Shape{9, 5000}}) {
      const Tensor x = drawn(shape, dtype, 32), other = drawn(shape, dtype, 33),
                   by = drawn({shape[0]}, dtype, 34);
      std::vector<std::int32_t> labels;
      for (std::int64_t b = 0; b < shape[0]; ++b)
        labels.push_back(static_cast<std::int32_t>(7 * b % shape[1]));
      const auto rows = [&](auto kernel) {
        return same_for_all_threads([&] {
          const Tensor y = one_a_row(x);
          kernel(y.view());
          return y;
        });
      };
      const auto values = [&](auto kernel) {
        return same_for_all_threads([&] {
          const Tensor y(shape, dtype);
          kernel(y.view());
          return y;
        });
      };
      INFO(dtype << shape);
      using namespace kernels;
      CHECK(rows([&](const View& y) { row_sums(x.view(), {}, y); }));
      CHECK(rows([&](const View& y) { row_max(x.view(), y); }));
      CHECK(rows([&](const View& y) { divide_rows_dby(x.view(), by.view(), other.view(), y); }));
      CHECK(rows([&](const View& y) { pick(x.view(), labels, y); }));
      CHECK(values([&](const View& y) { spread_rows(by.view(), y); }));
      CHECK(values([&](const View& y) { row_max_backward(x.view(), by.view(), y); }));
      CHECK(values([&](const View& y) { subtract_rows(x.view(), by.view(), y); }));
      CHECK(values([&](const View& y) { divide_rows(x.view(), by.view(), y); }));
      CHECK(values([&](const View& y) { pick_backward(by.view(), labels, y); }));
      CHECK(values([&](const View& y) { softmax(x.view(), y); }));
      CHECK(values([&](const View& y) { softmax_backward(x.view(), other.view(), y); }));
      CHECK(values([&](const View& y) { log_softmax(x.view(), y); }));
      CHECK(values([&](const View& y) { log_softmax_backward(x.view(), other.view(), y); }));
    }
  }
}

}  // namespace
}  // namespace tinymp::test
