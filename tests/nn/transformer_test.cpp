#include <tinymp/nn/transformer.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/autograd/finite_differences.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <cmath>

/// The models as a whole. That they are those of PyTorch: train/text_run_test.cpp, train/torch_gradients_test.cpp.
namespace tinymp::test {
namespace {

using nn::Transformer;
using Kind = nn::Transformer::Kind;
using Numbers = std::vector<std::int32_t>;

constexpr Recipe f64_arithmetic{.compute = DType::f64, .gradient = DType::f64, .master = DType::f64};
constexpr nn::TransformerSizes small{.words = 7, .context = 6, .layers = 2, .width = 8, .heads = 2};

Texts texts_of(const Numbers& tokens, std::int64_t steps) {
  return {.tokens = Indices(tokens, Device::cpu), .steps = steps};
}
const Numbers two_texts{1, 4, 4, 0, 6, 2, 3, 5}, next_tokens{4, 4, 0, 2, 2, 3, 5, 1};

TEST_CASE("Transformer: parameters and their names") {
  Rng rng(7);
  const Transformer decoder(Kind::decoder, small, {}, rng), encoder(Kind::encoder, small, {}, rng);
  CHECK(decoder.name() == "transformer decoder of 7 words, 2 layers of 8, 2 heads, context 6");
  CHECK(encoder.name() == "transformer encoder of 7 words, 2 layers of 8, 2 heads, context 6");
  const auto names = [](const nn::Module& model) {
    std::vector<std::string> all;
    for (const nn::Parameter& p : model.parameters()) all.push_back(p.name);
    return all;
  };
  const std::vector<std::string> of_decoder = names(decoder), of_encoder = names(encoder);
  CHECK(of_decoder.size() == 2 + 2 * 16 + 2);
  CHECK(of_decoder[0] == "embedding table");
  CHECK(of_decoder[1] == "positions table");
  CHECK(of_decoder[2] == "block 1 norm1 gamma");
  CHECK(of_decoder[4] == "block 1 query weight");
  CHECK(of_decoder[33] == "block 2 second bias");
  CHECK(of_decoder.back() == "norm beta");
  CHECK(of_encoder.size() == 2 + 2 + 2 * 16 + 4 + 1);
  CHECK(of_encoder[2] == "norm gamma");
  CHECK(of_encoder.back() == "out bias");
  for (std::vector<std::string> all : {of_decoder, of_encoder}) {
    std::ranges::sort(all);
    CHECK(std::ranges::adjacent_find(all) == all.end());
  }
  CHECK(decoder.buffers().empty());
  nn::TransformerSizes dropping = small;
  dropping.dropout = 0.5f;
  CHECK(Transformer(Kind::decoder, dropping, {}, rng).buffers().size() == 7);
}

TEST_CASE("Transformer: gradients are those of finite differences") {
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    Rng rng(7);
    const Transformer model(kind, small, f64_arithmetic, rng);
    Texts texts = texts_of(two_texts, 4);
    texts.lengths = Indices(Numbers{4, 3}, Device::cpu);
    Numbers labels = next_tokens;
    if (kind == Kind::encoder) {
      texts.asked = Indices(Numbers{1, 3, 4}, Device::cpu);
      labels = {4, 2, 6};
    }
    const auto loss = [&] { return cross_entropy(model.read(texts), labels); };
    const GradientReport report = check_gradients(loss, tensors(model.parameters()), {.entries = 60});
    INFO(model.name() << ": " << report);
    CHECK(report.error < 1e-6);
  }
}

TEST_CASE("Transformer: an encoder with classes names those of the tokens that are asked for") {
  nn::TransformerSizes sizes = small;
  sizes.classes = 3;
  Rng rng(7);
  const Transformer model(Kind::encoder, sizes, f64_arithmetic, rng);
  CHECK(model.name() == "transformer encoder of 7 words, 2 layers of 8, 2 heads, context 6, 3 classes");
  CHECK(model.output_layer() == "out");
  const std::vector<nn::Parameter> parameters = model.parameters();
  CHECK(parameters.size() == 2 + 2 + 2 * 16 + 2 + 2);
  CHECK(parameters[parameters.size() - 4].name == "transform weight");
  CHECK(parameters.back().name == "out bias");
  CHECK(parameters.back().value.shape() == Shape{3});
  Texts texts = texts_of(two_texts, 4);
  texts.asked = Indices(Numbers{0, 4}, Device::cpu);
  CHECK(model.read(texts).shape() == Shape{2, 3});
  const auto loss = [&] { return cross_entropy(model.read(texts), Numbers{2, 0}); };
  const GradientReport report = check_gradients(loss, tensors(parameters), {.entries = 60});
  INFO(report);
  CHECK(report.error < 1e-6);

  // The rows that are asked for are those of all; the first token of a text depends on all of the text.
  const std::vector<double> some = model.read(texts).to_doubles();
  const std::vector<double> all = model.read(texts_of(two_texts, 4)).to_doubles();
  CHECK(std::equal(some.begin(), some.begin() + 3, all.begin()));
  CHECK(std::equal(some.begin() + 3, some.end(), all.begin() + 4 * 3));
  Numbers other = two_texts;
  other[3] = 5;
  CHECK(model.read(texts_of(other, 4)).to_doubles()[0] != all[0]);

  // Behind tanh nothing is above 1, however large the weights before it.
  for (const nn::Parameter& p : parameters)
    if (p.name == "transform weight")
      for (std::int64_t i = 0; i < p.value.size(); ++i) p.value.data<double>()[i] *= 1e6;
  const std::vector<double> weight = parameters[parameters.size() - 2].value.to_doubles(),
                            bias = parameters.back().value.to_doubles();
  const std::vector<double> large = model.read(texts).to_doubles();
  for (std::size_t c = 0; c < 3; ++c) {
    double most = 0;
    for (std::size_t i = 0; i < 8; ++i) most += std::fabs(weight[3 * i + c]);
    CHECK(std::fabs(large[c] - bias[c]) <= most);
    CHECK(std::fabs(large[c] - bias[c]) > 0);
  }

  sizes.dropout = 0.5f;
  CHECK(Transformer(Kind::encoder, sizes, {}, rng).buffers().size() == 8);
  CHECK_SAYS("a decoder has none", Transformer(Kind::decoder, sizes, {}, rng));
  sizes.classes = -1;
  CHECK_SAYS("-1 classes", Transformer(Kind::encoder, sizes, {}, rng));
}

TEST_CASE("Transformer: a decoder's token sees those before it, an encoder's all of its text") {
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    Rng rng(3);
    const Transformer model(kind, small, {}, rng);
    Numbers other = two_texts;
    other[2] = 6;
    const std::vector<float> a = model.read(texts_of(two_texts, 4)).to_floats(),
                             b = model.read(texts_of(other, 4)).to_floats();
    for (std::size_t row = 0; row < 8; ++row) {
      const bool same = std::equal(a.begin() + 7 * static_cast<std::ptrdiff_t>(row),
                                   a.begin() + 7 * static_cast<std::ptrdiff_t>(row + 1),
                                   b.begin() + 7 * static_cast<std::ptrdiff_t>(row));
      INFO("row " << row);
      CHECK(same == (row >= 4 || (kind == Kind::decoder && row < 2)));
    }
  }
}

TEST_CASE("Transformer: the rows that are asked for are those of all, and their order is kept") {
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    Rng rng(3);
    const Transformer model(kind, small, {}, rng);
    Texts texts = texts_of(two_texts, 4);
    const std::vector<float> all = model.read(texts).to_floats();
    texts.asked = Indices(Numbers{5, 2}, Device::cpu);
    const std::vector<float> some = model.read(texts).to_floats();
    CHECK(std::equal(some.begin(), some.begin() + 7, all.begin() + 5 * 7));
    CHECK(std::equal(some.begin() + 7, some.end(), all.begin() + 2 * 7));
  }
}

TEST_CASE("Transformer: padding changes nothing of a text, and a text is read as if it were alone") {
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    Rng rng(3);
    const Transformer model(kind, small, {}, rng);
    const std::vector<float> alone = model.read(texts_of({6, 2, 3}, 3)).to_floats();
    for (const std::int32_t padding : {0, 5}) {
      Texts texts = texts_of({1, 4, 4, 0, 6, 2, 3, padding}, 4);
      texts.lengths = Indices(Numbers{4, 3}, Device::cpu);
      const std::vector<float> both = model.read(texts).to_floats();
      for (std::size_t i = 0; i < alone.size(); ++i) CHECK(both[4 * 7 + i] == Approx(alone[i]).margin(1e-6));
    }
  }
}

TEST_CASE("Transformer: the layers that add to the sum of a decoder begin smaller, with its depth") {
  const auto largest = [](const Kind kind, std::int64_t layers, const std::string& layer) {
    Rng rng(3);
    nn::TransformerSizes sizes = small;
    sizes.layers = layers, sizes.width = 64;
    float most = 0;
    for (const nn::Parameter& p : Transformer(kind, sizes, {}, rng).parameters())
      if (p.name == "block 1 " + layer + " weight")
        for (const float w : p.value.to_floats()) most = std::max(most, std::fabs(w));
    return most;
  };
  for (const std::string layer : {"out", "second"}) {
    INFO(layer);
    const float shallow = largest(Kind::decoder, 1, layer), deep = largest(Kind::decoder, 4, layer);
    CHECK(shallow / deep == Approx(2).epsilon(0.05));
    CHECK(largest(Kind::encoder, 1, layer) == Approx(largest(Kind::encoder, 4, layer)).epsilon(0.05));
  }
}

TEST_CASE("Transformer: each layer of dropout has its own places, and so has each seed") {
  nn::TransformerSizes sizes = small;
  sizes.dropout = 0.5f;
  const auto seeds_of = [&](std::uint64_t seed, const Recipe& recipe) {
    Rng rng(seed);
    std::vector<std::uint64_t> all;
    for (std::uint64_t number = 1; number <= 2; ++number) {
      const nn::TransformerBlock block(true, sizes, number, recipe, rng);
      for (const nn::Dropout& layer : {block.of_attention, block.of_out, block.of_second})
        all.push_back(layer.seed);
    }
    return all;
  };
  std::vector<std::uint64_t> all = seeds_of(1, {});
  CHECK(all == seeds_of(1, recipes::fp16_dynamic));
  for (const std::uint64_t seed : seeds_of(2, {})) all.push_back(seed);
  std::ranges::sort(all);
  CHECK(std::ranges::adjacent_find(all) == all.end());
}

TEST_CASE("Transformer: the same first weights under every recipe, but for rounding") {
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    Rng one(5), two(5);
    const Transformer wide(kind, small, recipes::fp32, one), narrow(kind, small, recipes::fp16_dynamic, two);
    for (std::size_t i = 0; i < wide.parameters().size(); ++i)
      CHECK(cast(wide.parameters()[i].value, DType::f16).to_floats() ==
            narrow.parameters()[i].value.to_floats());
  }
}

double last_loss(Kind kind, const Recipe& recipe, float dropout) {
  Rng rng(8);
  nn::TransformerSizes sizes = small;
  sizes.width = 16;
  sizes.dropout = dropout;
  const Transformer model(kind, sizes, recipe, rng);
  Adam optimizer(tensors(model.parameters()), {.lr = 0.01f}, recipe);
  LossScaler scaler(recipe.scaling);
  Texts texts = texts_of(two_texts, 4);
  Numbers labels = next_tokens;
  if (kind == Kind::encoder) {
    texts.asked = Indices(Numbers{1, 3, 4}, Device::cpu);
    labels = {3, 2, 6};
  }
  double loss = 0;
  for (int step = 0; step < 120; ++step) {
    {
      const Autocast region(recipe);
      Tape tape;
      const Tensor of_step = cross_entropy(model.read(texts), labels);
      tape.backward(scaler.scale(of_step));
      loss = of_step.item();
    }
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
  return loss;
}

TEST_CASE("Transformer: learns a text by heart under FP32, FP16, BF16 and O1 to O3") {
  constexpr Recipe bf16{.compute = DType::bf16, .gradient = DType::bf16};
  Recipe o3 = recipes::o3;
  o3.state = DType::f32;  // in FP16 Adam's second moment becomes 0, and the first step is NaN
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, bf16, recipes::o1, recipes::o2, o3}) {
      INFO(describe(recipe) << (kind == Kind::decoder ? ", decoder" : ", encoder"));
      CHECK(last_loss(kind, recipe, 0) < 0.1);
    }
    CHECK(last_loss(kind, recipes::fp32, 0.1f) < 0.7);
  }
}

TEST_CASE("Transformer: with dropout training draws masks, and reading without a tape none") {
  Rng rng(3);
  nn::TransformerSizes sizes = small;
  sizes.dropout = 0.5f;
  const Transformer model(Kind::decoder, sizes, {}, rng);
  const Texts texts = texts_of(two_texts, 4);
  const auto training = [&] {
    const Tape tape;
    return model.read(texts).to_floats();
  };
  const std::vector<float> calm = model.read(texts).to_floats(), first = training(), second = training();
  CHECK(calm == model.read(texts).to_floats());
  CHECK(first != calm);
  CHECK(first != second);
  for (const Tensor& step : model.buffers()) CHECK(step.item() == 2);
}

TEST_CASE("Transformer says what it cannot be, and what it cannot read") {
  Rng rng(1);
  const auto make = [&](nn::TransformerSizes sizes) { return Transformer(Kind::decoder, sizes, {}, rng); };
  CHECK_SAYS("3 heads do not share a width of 8", make({.words = 7, .context = 6, .width = 8, .heads = 3}));
  CHECK_SAYS("must be above 0", make({.words = 0, .context = 6}));
  const Transformer model = make(small);
  CHECK_SAYS("a text has 1 to 6 tokens", model.read(texts_of(Numbers(14, 1), 7)));
  CHECK_SAYS("no texts of 3", model.read(texts_of(two_texts, 3)));
  CHECK_SAYS("token 7 is not one of the 7", model.read(texts_of(Numbers{7, 1}, 2)));
  CHECK_SAYS("reads texts, and takes no images", model(Tensor({1, 784})));
  Texts asks_too_far = texts_of(two_texts, 4);
  asks_too_far.asked = Indices(Numbers{8}, Device::cpu);
  CHECK_SAYS("place 8 is asked for, and the texts have 8 tokens", model.read(asks_too_far));
}

}  // namespace
}  // namespace tinymp::test
