#include <tests/catch.h>
#include <tests/kernels/rig.h>

/// Batch norm's sums, value by value in the order that kernels.h fixes, and the same bits for any number of
/// threads.
namespace tinymp::test {
namespace {

constexpr Accumulation f32_chain{}, f16_chain{.format = DType::f16},
    f16_chunks{.format = DType::f16, .chunk = 64}, f32_chunks{.chunk = 7};

DType wide_of(DType dtype) { return dtype == DType::f64 ? DType::f64 : DType::f32; }

struct Moments {
  Tensor mean, variance;
};
Moments moments_of(const Tensor& x, const Accumulation& how) {
  const Moments found{Tensor({x.shape()[1]}, wide_of(x.dtype())), Tensor({x.shape()[1]}, wide_of(x.dtype()))};
  kernels::column_moments(x.view(), how, found.mean.view(), found.variance.view());
  return found;
}

/// In double where f64, in float elsewhere.
template <class C>
void check_moments(const Tensor& x, const Accumulation& how) {
  const bool f64 = x.dtype() == DType::f64;
  const Moments found = moments_of(x, how);
  const std::vector<double> values = x.to_doubles();
  const auto rows = static_cast<C>(x.shape()[0]);
  const auto columns = static_cast<std::size_t>(x.shape()[1]);
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> terms;
    for (std::size_t i = c; i < values.size(); i += columns) terms.push_back(values[i]);
    const C mean = static_cast<C>(sum_in_order(terms, how, f64)) / rows;
    for (double& t : terms) {
      const C d = static_cast<C>(t) - mean;
      t = static_cast<double>(d * d);
    }
    const C variance = static_cast<C>(sum_in_order(terms, how, f64)) / rows;
    INFO(x.dtype() << x.shape() << ", sums in " << how.format << ", chunk " << how.chunk << ", column " << c);
    REQUIRE(same_bits(found.mean.to_doubles()[c], static_cast<double>(mean)));
    REQUIRE(same_bits(found.variance.to_doubles()[c], static_cast<double>(variance)));
  }
}

TEST_CASE("batch norm: mean and variance are summed in their order, each addition rounded") {
  for (const Accumulation& how : {f32_chain, f16_chain, f16_chunks, f32_chunks}) {
    for (const Shape& shape : {Shape{2, 1}, Shape{200, 63}, Shape{129, 64}, Shape{64, 65}, Shape{300, 130},
                               Shape{4096, 2}, Shape{9001, 5}}) {
      for (const DType dtype : {DType::f16, DType::bf16, DType::f32})
        check_moments<float>(drawn(shape, dtype, 21), how);
      check_moments<double>(drawn(shape, DType::f64, 21), how);
    }
  }
}

TEST_CASE("batch norm: the mean of 5000 ones is 1, but 2048 / 5000 when they are summed in FP16") {
  const Tensor ones = Tensor::from({5000, 1}, std::vector<float>(5000, 1), DType::f16);
  const auto mean = [&](const Accumulation& how) { return moments_of(ones, how).mean.item(); };
  CHECK(mean(f32_chain) == 1);
  CHECK(mean(f16_chain) == static_cast<double>(2048.0f / 5000));
  CHECK(mean(f16_chunks) == 1);
  CHECK(moments_of(ones, f32_chain).variance.item() == 0);
  CHECK(moments_of(ones, f16_chain).variance.item() > 0.1);  // around a wrong mean
}

TEST_CASE("batch norm: the variance is around the mean: 1000 +- 1 in FP32 has variance 1") {
  const Tensor x = Tensor::from({4, 1}, std::vector<float>{999, 1001, 999, 1001});
  CHECK(moments_of(x, f32_chain).variance.item() == 1);
}

struct Sums {
  Tensor dgamma, dbeta;
};
Sums sums_of(const Tensor& x, const Moments& by, const Tensor& dy, const Accumulation& how) {
  const Sums sums{Tensor(by.mean.shape(), by.mean.dtype()), Tensor(by.mean.shape(), by.mean.dtype())};
  kernels::batch_norm_sums(x.view(), {by.mean.view(), by.variance.view(), 1e-5}, dy.view(), how,
                           sums.dgamma.view(), sums.dbeta.view());
  return sums;
}

TEST_CASE("batch norm: backward sums dy and dy xhat in the order that forward has, each addition rounded") {
  for (const Accumulation& how : {f32_chain, f16_chain, f16_chunks}) {
    for (const DType dtype : {DType::f16, DType::f32}) {
      const Tensor x = drawn({4500, 66}, dtype, 22), dy = drawn({4500, 66}, dtype, 23);
      const Moments by = moments_of(x, f32_chain);
      const Sums found = sums_of(x, by, dy, how);
      const std::vector<float> v = x.to_floats(), d = dy.to_floats();
      for (std::size_t c = 0; c < 66; ++c) {
        const float mean = by.mean.to_floats()[c];
        const float inverse = 1 / std::sqrt(by.variance.to_floats()[c] + 1e-5f);
        std::vector<double> errors, products;
        for (std::size_t i = c; i < v.size(); i += 66) {
          errors.push_back(static_cast<double>(d[i]));
          const float xhat = (v[i] - mean) * inverse;
          products.push_back(static_cast<double>(d[i] * xhat));
        }
        INFO(dtype << ", sums in " << how.format << ", chunk " << how.chunk << ", column " << c);
        REQUIRE(same_bits(found.dbeta.to_doubles()[c], sum_in_order(errors, how, false)));
        REQUIRE(same_bits(found.dgamma.to_doubles()[c], sum_in_order(products, how, false)));
      }
    }
  }
}

TEST_CASE("batch norm: the same bits for 1, 2, 3 and 7 threads") {
  for (const Accumulation& how : {f32_chain, f16_chunks}) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      for (const Shape& shape : {Shape{400, 1100}, Shape{9000, 16}}) {
        const Tensor x = drawn(shape, dtype, 24), dy = drawn(shape, dtype, 25);
        const Tensor gamma = drawn({shape[1]}, dtype, 26), beta = drawn({shape[1]}, dtype, 27);
        const Moments by = moments_of(x, how);
        const kernels::Normalizer normalizer{by.mean.view(), by.variance.view(), 1e-5};
        const Sums sums = sums_of(x, by, dy, how);
        INFO(dtype << ", sums in " << how.format);
        CHECK(same_for_all_threads([&] { return moments_of(x, how).mean; }));
        CHECK(same_for_all_threads([&] { return moments_of(x, how).variance; }));
        CHECK(same_for_all_threads([&] { return sums_of(x, by, dy, how).dgamma; }));
        CHECK(same_for_all_threads([&] { return sums_of(x, by, dy, how).dbeta; }));
        CHECK(same_for_all_threads([&] {
          Tensor y(x.shape(), dtype);
          kernels::batch_norm(x.view(), normalizer, gamma.view(), beta.view(), y.view());
          return y;
        }));
        CHECK(same_for_all_threads([&] {
          Tensor dx(x.shape(), dtype);
          kernels::batch_norm_dx(x.view(), normalizer, gamma.view(), dy.view(), sums.dgamma.view(),
                                 sums.dbeta.view(), dx.view());
          return dx;
        }));
      }
    }
  }
}

}  // namespace
}  // namespace tinymp::test
