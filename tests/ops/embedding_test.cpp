#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <tests/ops/rounding.h>
#include <tinymp/ops/ops.h>

/// The gradient of a table's row: the sum over the places of its token, added up in their order, in FP32, and
/// rounded once.
namespace tinymp::test {
namespace {

constexpr std::int64_t words = 37, width = 9, count = 5000;

/// As of words in a text: a few are most of it, some never occur.
std::vector<std::int32_t> drawn_tokens() {
  Rng rng(3);
  std::vector<std::int32_t> tokens;
  for (std::int64_t n = 0; n < count; ++n) {
    const std::uint64_t limit = 1 + rng.below(words - 2);
    tokens.push_back(static_cast<std::int32_t>(rng.below(limit)));
  }
  return tokens;
}

Tensor gradient(const Tensor& dy, const std::vector<std::int32_t>& tokens) {
  const Tensor table = drawn({words, width}, dy.dtype(), 1).set_requires_grad(true);
  Tape tape;
  const Tensor y = embedding(table, tokens);
  tape.backward(record("upstream", {y}, Tensor::from(Shape{}, std::vector<float>{0}),
                       [dy](const Tensor&, const Needs&) { return std::vector{dy}; }));
  return table.grad();
}

TEST_CASE("embedding: the gradient of a row is one FP32 chain over the places of its token, rounded once") {
  const std::vector<std::int32_t> tokens = drawn_tokens();
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const Tensor dy = drawn({count, width}, dtype, 2);
    const std::vector<float> d = dy.to_floats();
    std::vector<float> sums(static_cast<std::size_t>(words * width), 0.0f);
    for (std::size_t n = 0; n < tokens.size(); ++n) {
      for (std::size_t c = 0; c < width; ++c)
        sums[static_cast<std::size_t>(tokens[n]) * width + c] += d[n * width + c];
    }
    INFO(dtype);
    CHECK(bits_equal(gradient(dy, tokens), Tensor::from({words, width}, sums, dtype)));
    CHECK(same_for_all_threads([&] { return gradient(dy, tokens); }));
  }
}

TEST_CASE("embedding: rows whose token never occurs get a gradient of zeros") {
  const std::vector<float> g = gradient(drawn({3, width}, DType::f16, 2), {4, 4, 7}).to_floats();
  for (std::size_t v = 0; v < words; ++v) {
    for (std::size_t c = 0; c < width; ++c) CHECK((g[v * width + c] != 0) == (v == 4 || v == 7));
  }
}

}  // namespace
}  // namespace tinymp::test
