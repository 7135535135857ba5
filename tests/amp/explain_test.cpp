#include <tinymp/amp/explain.h>

#include <tests/catch.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/mlp.h>

/// What explain() says of a small program that was written down by hand.
namespace tinymp::test {
namespace {

TEST_CASE("explain: every op with its formats, sums, bytes and the parameters that go in") {
  Rng rng(1);
  const nn::BatchNormMlp model({4, 3, 2}, recipes::fp32, rng);
  const Tensor images = Tensor::from({2, 4}, std::vector<float>(8, 0.5f));
  const auto program = [&] {
    const Autocast region(DType::f16);
    return cross_entropy(model(images), std::vector<std::int32_t>{0, 1});
  };
  std::string text;
  for (const ExplainedOp& op : explain(program, names_in(model))) {
    text += op.op + " |";
    for (const DType dtype : op.in) text += concat(" ", dtype);
    text += concat(" | ", op.out, " ", op.sums ? concat(*op.sums) : "-", " ", op.shape, " ", op.bytes, " | ",
                   op.names.empty() ? "-" : op.names, "\n");
  }
  INFO(text);
  CHECK(text ==
        R"(cast | f32 | f16 - (2, 4) 16 | -
cast | f32 | f16 - (4, 3) 24 | layer 1 weight
cast | f32 | f16 - (3) 6 | layer 1 bias
linear | f16 f16 f16 | f16 f32 (2, 3) 12 | layer 1 weight, layer 1 bias
batch_norm: mean | f16 | f32 f32 (3) 12 | -
batch_norm: variance | f16 | f32 f32 (3) 12 | -
batch_norm | f16 f32 f32 | f16 - (2, 3) 12 | norm 1 gamma, norm 1 beta
relu | f16 | f16 - (2, 3) 12 | -
cast | f32 | f16 - (3, 2) 12 | layer 2 weight
cast | f32 | f16 - (2) 4 | layer 2 bias
linear | f16 f16 f16 | f16 f32 (2, 2) 8 | layer 2 weight, layer 2 bias
cast | f16 | f32 - (2, 2) 16 | -
cross_entropy | f32 | f32 f32 () 4 | -
)");
}

TEST_CASE("explain: what is no copy has no bytes, and an accumulator in f16 shows") {
  const Tensor x = Tensor::from({2, 2}, std::vector<float>{1, 2, 3, 4}, DType::f16);
  const std::vector<ExplainedOp> ops = explain([&] {
    return matmul(reshape(x, {2, 2}), x, {.accumulate = DType::f16});
  });
  REQUIRE(ops.size() == 2);
  CHECK(ops[0].bytes == 0);
  CHECK_FALSE(ops[0].sums.has_value());
  CHECK(ops[1].sums == DType::f16);
  CHECK(ops[1].bytes == 8);
  CHECK(Tape::current() == nullptr);
}

TEST_CASE(
    "explain: a tensor that becomes FP8 is a row before its product, and backward has rows of its own") {
  Rng rng(1);
  Recipe recipe = recipes::fp8_e5m2;
  recipe.eight_bits = {
      .forward = DType::e4m3, .backward = DType::e5m2, .gradient = DType::e5m2, .exempt = "first"};
  recipe.rounding.errors = Rounding::stochastic;
  const nn::Mlp model({4, 3, 2}, recipe, rng);
  const Tensor images = Tensor::from({2, 4}, std::vector<float>(8, 0.5f), DType::f16);
  const Float8Products products(model, recipe);
  std::string text;
  const auto step = [&] {
    const Float8Products::Region region(products);
    return sum(cast(model(images), DType::f32));
  };
  for (const ExplainedOp& op : explain_step(step, names_in(model))) {
    text += op.op + " |";
    for (const DType dtype : op.in) text += concat(" ", dtype);
    text += concat(" | ", op.out, " ", op.rounding ? name_of(*op.rounding) : "-", " ", op.shape, " ",
                   op.bytes, " | ", op.names.empty() ? "-" : op.names, "\n");
  }
  INFO(text);
  CHECK(text == R"(linear | f16 f16 f16 | f16 - (2, 3) 12 | layer 1 weight, layer 1 bias
quantize | f16 | e4m3 nearest (2, 3) 6 | layer 2 activations
quantize | f16 | e4m3 nearest (3, 2) 6 | layer 2 weight
linear | e4m3 e4m3 f16 | f16 - (2, 2) 8 | layer 2 weight, layer 2 bias
cast | f16 | f32 - (2, 2) 16 | -
sum | f32 | f32 - () 4 | -
quantize | f16 | e5m2 stochastic (2, 2) 4 | layer 2 errors
quantize | f32 | e5m2 nearest (3, 2) 6 | layer 2 weight gradients
)");
}

}  // namespace
}  // namespace tinymp::test
