#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/base/rng.h>
#include <tinymp/ops/ops.h>
#include <algorithm>
#include <cmath>
#include <limits>

/// What attention sees and what it does not, beyond the entries of op_cases.h.
namespace tinymp::test {
namespace {

using Values = std::vector<double>;

Tensor drawn_texts(const Shape& shape, std::uint64_t seed, DType dtype = DType::f32, float bound = 1) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (float& v : values) v = rng.uniform(-bound, bound);
  return Tensor::from(shape, values, dtype).set_requires_grad(true);
}

/// y and the gradients of q, k, v for dy = y.
std::vector<Values> all_of(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& how) {
  for (const Tensor& x : {q, k, v}) x.clear_grad();
  Tape tape;
  const Tensor y = attention(q, k, v, how);
  tape.backward(record("upstream", {y}, Tensor::from(Shape{}, std::vector<float>{0}),
                       [y](const Tensor&, const Needs&) { return std::vector{y}; }));
  return {y.to_doubles(), q.grad().to_doubles(), k.grad().to_doubles(), v.grad().to_doubles()};
}

Tensor with_value(const Tensor& x, std::size_t place, float value) {
  std::vector<float> values = x.to_floats();
  values[place] = value;
  return cast(Tensor::from(x.shape(), values), x.dtype()).set_requires_grad(true);
}

TEST_CASE("attention: causal, a token does not see those behind it, nor do their gradients reach it") {
  const Shape shape{2, 5, 6};
  const Tensor q = drawn_texts(shape, 1), k = drawn_texts(shape, 2), v = drawn_texts(shape, 3);
  const AttentionOptions how{.heads = 3, .causal = true};
  const Values before = all_of(q, k, v, how)[0];
  for (std::size_t t = 0; t < 5; ++t) {
    const std::size_t place = (5 + t) * 6;  // of text 1
    const Values after = all_of(q, with_value(k, place, 3), with_value(v, place, -3), how)[0];
    for (std::size_t i = 0; i < after.size(); ++i) {
      const bool may_change = i >= place && i % 6 < 2;  // this text, from t on, head 0
      INFO("token " << t << ", value " << i);
      if (!may_change) CHECK(after[i] == before[i]);
    }
    CHECK(after[place] != before[place]);
  }
}

TEST_CASE("attention: what stands in the padding changes nothing, and gets no gradient") {
  const Shape shape{3, 4, 4};
  const Tensor q = drawn_texts(shape, 1), k = drawn_texts(shape, 2), v = drawn_texts(shape, 3);
  const AttentionOptions how{.heads = 2, .lengths = Indices(std::vector<std::int32_t>{4, 0, 2}, Device::cpu)};
  const std::vector<Values> found = all_of(q, k, v, how);
  const std::size_t padding = (2 * 4 + 2) * 4;  // text 2, token 2
  const std::vector<Values> other =
      all_of(q, with_value(k, padding, 60000), with_value(v, padding, -60000), how);
  CHECK(found == other);
  for (const std::size_t which : {2u, 3u})  // of k and v
    for (std::size_t i = padding; i < found[which].size(); ++i) CHECK(found[which][i] == 0);
}

TEST_CASE("attention: a row that sees nothing gives 0, and its gradient is 0") {
  const Shape shape{2, 3, 4};
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const Tensor q = drawn_texts(shape, 1, dtype), k = drawn_texts(shape, 2, dtype),
                 v = drawn_texts(shape, 3, dtype);
    const Indices lengths(std::vector<std::int32_t>{0, 3}, Device::cpu);
    for (const bool causal : {false, true}) {
      for (const Values& values : all_of(q, k, v, {.causal = causal, .lengths = lengths})) {
        INFO(dtype);
        CHECK(std::all_of(values.begin(), values.begin() + 12, [](double x) { return x == 0; }));
        CHECK(std::any_of(values.begin() + 12, values.end(), [](double x) { return x != 0; }));
      }
    }
  }
}

TEST_CASE("attention: FP16 scores above 65504 do not overflow, for they are FP32") {
  // 256 x 40 x 40 = 409600; the other score is smaller by 40 x 256 / 16 after the scale, so all goes to the first
  const auto texts = [](float first, float second) {
    std::vector<float> values(2 * 256, first);
    std::fill(values.begin() + 256, values.end(), second);
    return Tensor::from({1, 2, 256}, values, DType::f16).set_requires_grad(true);
  };
  const std::vector<Values> found = all_of(texts(40, 40), texts(40, 39), texts(1, 2), {});
  for (const Values& values : found)
    CHECK(std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); }));
  CHECK(found[0].front() == 1);
}

TEST_CASE("attention: an infinite score makes NaN in its own row alone") {
  const Shape shape{1, 3, 2};
  const Tensor q = drawn_texts(shape, 1), k = drawn_texts(shape, 2), v = drawn_texts(shape, 3);
  const Tensor broken = with_value(q, 2, std::numeric_limits<float>::infinity());
  const Values y = attention(broken, k, v, {.causal = true}).to_doubles();
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::isnan(y[i]) == (i == 2 || i == 3));
}

TEST_CASE("attention: an infinite value makes NaN where it is not seen, too: 0 times infinity") {
  const Shape shape{1, 3, 2};
  const Tensor q = drawn_texts(shape, 1), k = drawn_texts(shape, 2), v = drawn_texts(shape, 3);
  const Values y = attention(q, k, with_value(v, 4, std::numeric_limits<float>::infinity()), {.causal = true})
                       .to_doubles();
  for (std::size_t row = 0; row < 3; ++row) {
    CHECK(std::isnan(y[2 * row]) == (row < 2));
    CHECK(std::isfinite(y[2 * row + 1]));
  }
}

TEST_CASE("attention: the same bits for any number of threads") {
  const Shape shape{7, 33, 24};
  const int before = threads();
  for (const DType dtype : {DType::f16, DType::f32}) {
    const Tensor q = drawn_texts(shape, 1, dtype), k = drawn_texts(shape, 2, dtype),
                 v = drawn_texts(shape, 3, dtype);
    const AttentionOptions how{
        .heads = 4, .causal = true, .dropout = 0.1f, .seed = 5, .step = Tensor::from(Shape{}, Values{2})};
    set_threads(1);
    const std::vector<Values> expected = all_of(q, k, v, how);
    for (const int n : {2, 3, 7}) {
      set_threads(n);
      CHECK(all_of(q, k, v, how) == expected);
    }
  }
  set_threads(before);
}

TEST_CASE("attention: dropout depends on seed and step, and keeps the mean") {
  const Tensor q = drawn_texts({4, 40, 8}, 1), k = drawn_texts({4, 40, 8}, 2);
  const Tensor ones = Tensor::from({4, 40, 8}, std::vector<float>(4 * 40 * 8, 1)).set_requires_grad(true);
  const auto at = [&](std::uint64_t seed, double step) {
    return attention(q, k, ones, {.dropout = 0.5f, .seed = seed, .step = Tensor::from(Shape{}, Values{step})})
        .to_doubles();
  };
  const Values y = at(1, 1);
  CHECK(y == at(1, 1));
  CHECK(y != at(2, 1));
  CHECK(y != at(1, 2));
  double sum = 0;
  for (const double v : y) sum += v;
  CHECK(std::fabs(sum / static_cast<double>(y.size()) - 1) < 0.05);
}

TEST_CASE("attention says what does not fit") {
  const Tensor x = drawn_texts({2, 3, 4}, 1), other = drawn_texts({2, 5, 4}, 1),
               wide = drawn_texts({2, 3, 6}, 1);
  CHECK_SAYS("do not fit", attention(x, x, other));
  CHECK_SAYS("do not fit", attention(x, wide, wide));
  CHECK_SAYS("do not fit", attention(reshape(x, {6, 4}), x, x));
  CHECK_SAYS("3 heads do not share the 4 columns", attention(x, x, x, {.heads = 3}));
  CHECK_SAYS("0 heads", attention(x, x, x, {.heads = 0}));
  CHECK_SAYS("causal, with 3 queries and 5 keys", attention(x, other, other, {.causal = true}));
  const auto lengths = [&](std::vector<std::int32_t> of) {
    return AttentionOptions{.lengths = Indices(of, Device::cpu)};
  };
  CHECK_SAYS("1 lengths for 2 texts", attention(x, x, x, lengths({3})));
  CHECK_SAYS("a length of 4 for texts of 3 tokens", attention(x, x, x, lengths({3, 4})));
  CHECK_SAYS("a length of -1", attention(x, x, x, lengths({3, -1})));
  CHECK_SAYS("dropout is 1", attention(x, x, x, {.dropout = 1}));
  CHECK_SAYS("takes a step", attention(x, x, x, {.dropout = 0.5f}));
  CHECK_SAYS("it is one value in f64",
             attention(x, x, x, {.dropout = 0.5f, .step = Tensor::from(Shape{}, std::vector<float>{1})}));
  CHECK_SAYS("cast() one of them", attention(x, cast(x, DType::f16), x));
  CHECK_SAYS("does not fit: x is (B,I), w is (O,I)",
             matmul_transposed(reshape(x, {6, 4}), reshape(x, {4, 6})));
  CHECK_SAYS("the table (P,W)", add_positions(x, reshape(x, {4, 6})));
  CHECK_SAYS("a row for each", add_positions(x, drawn_texts({2, 4}, 1)));
}

}  // namespace
}  // namespace tinymp::test
