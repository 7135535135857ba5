#include <tinymp/amp/float8_products.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/ops/ops.h>
#include <algorithm>
#include <functional>

/// Products in FP8 against the plain op, in FP32, of operands that were rounded one by one.
namespace tinymp::test {
namespace {

using enum DType;

/// A model of weights alone.
class Weights final : public nn::Module {
 public:
  explicit Weights(std::vector<nn::Parameter> all) : all_(std::move(all)) {}
  std::vector<nn::Parameter> parameters() const override { return all_; }
  std::string name() const override { return "weights"; }

 private:
  std::vector<nn::Parameter> all_;
};

Tensor weight(Shape shape, std::uint64_t seed) { return drawn(shape, f32, seed).set_requires_grad(true); }

Tensor rounded(const Tensor& x, DType format) { return cast(cast(x, format), f32); }

Recipe products_in(DType forward, DType backward, DType gradient = f32) {
  return {.eight_bits = {.forward = forward, .backward = backward, .gradient = gradient}};
}

struct Gradients3 {
  Tensor y, dx, dw, db;
};
using Op = std::function<Tensor(const Tensor& x, const Tensor& w, const Tensor& b)>;

/// y = op(x, w, b), and the gradients of sum(y g).
Gradients3 run(const Op& op, const Tensor& x, const Tensor& w, const Tensor& b, const Tensor& g) {
  for (const Tensor& t : {x, w, b}) t.clear_grad(), t.set_requires_grad(true);
  Tape tape;
  const Tensor y = op(x, w, b);
  tape.backward(sum(multiply(y, g)));
  return {y, x.grad(), w.grad(), b.grad()};
}

/// y and dw as the plain op makes them of rounded x and w, and of rounded g for dx and dw; db is not rounded.
void check_op(const Op& op, const Shape& of_x, const Shape& of_w, std::int64_t outputs) {
  for (const auto& [forward, backward] : {std::pair{e5m2, e5m2}, {e4m3, e5m2}, {e4m3, e4m3}}) {
    for (const DType gradient : {f32, e5m2}) {
      INFO(forward << ", " << backward << ", " << gradient);
      const Tensor x = drawn(of_x, f32, 1, 2), w = weight(of_w, 2), b = weight({outputs}, 3);
      const Weights model({{"layer 1 weight", w}, {"layer 1 bias", b}});
      const Float8Products products(model, products_in(forward, backward, gradient));
      Tensor g;
      {
        const Tensor y = op(x, w, b);
        g = drawn(y.shape(), f32, 4, 1);
      }
      const Gradients3 expected =
          run(op, rounded(x, forward), rounded(w, forward), drawn({outputs}, f32, 3), rounded(g, backward));
      const Tensor db = run(op, drawn(of_x, f32, 1, 2), drawn(of_w, f32, 2), drawn({outputs}, f32, 3), g).db;
      const Float8Products::Region region(products);
      const Gradients3 found = run(op, x, w, b, g);
      CHECK(bits_equal(found.y, expected.y));
      CHECK(bits_equal(found.dx, expected.dx));
      CHECK(bits_equal(found.dw, gradient == f32 ? expected.dw : rounded(expected.dw, gradient)));
      CHECK(bits_equal(found.db, db));
    }
  }
}

}  // namespace

TEST_CASE("FP8 products: linear, matmul and conv2d round their operands, and nothing else") {
  check_op([](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); }, {5, 37},
           {37, 7}, 7);
  check_op([](const Tensor& x, const Tensor& w, const Tensor& b) { return add_bias(matmul(x, w), b); },
           {5, 37}, {37, 7}, 7);
  check_op([](const Tensor& x, const Tensor& w, const Tensor& b) { return conv2d(x, w, b, {.padding = 1}); },
           {2, 6, 6, 3}, {3, 3, 3, 5}, 5);
}

namespace {

/// dw of a model in 16 bits: the FP32 sums of the plain op on rounded operands, rounded once to `gradient`.
void check_rounded_once(const Op& op, const Shape& of_x, const Shape& of_w, DType compute, DType gradient) {
  INFO(compute << ", " << gradient);
  const Tensor x = drawn(of_x, compute, 1, 2), w = drawn(of_w, compute, 2), none = drawn({1}, f32, 1);
  Recipe recipe = products_in(e5m2, e5m2, gradient);
  recipe.compute = compute;
  const Float8Products products(Weights({{"layer 1 weight", w}}), recipe);
  const Tensor g = drawn(op(x, w, none).shape(), compute, 4, 1);
  const Tensor sums =
      run(op, rounded(cast(x, f32), e5m2), rounded(cast(w, f32), e5m2), none, rounded(cast(g, f32), e5m2)).dw;
  const Float8Products::Region region(products);
  const Tensor dw = run(op, x, w, none, g).dw;
  CHECK(dw.dtype() == compute);
  CHECK(bits_equal(dw, cast(rounded(sums, gradient), compute)));
  CHECK_FALSE(bits_equal(dw, cast(rounded(rounded(sums, compute), gradient), compute)));
}

}  // namespace

TEST_CASE("FP8 products: gradients of weights are rounded once, out of FP32 sums") {
  for (const DType compute : {f16, bf16}) {
    for (const DType gradient : {e5m2, e4m3}) {
      check_rounded_once([](const Tensor& x, const Tensor& w, const Tensor&) { return matmul(x, w); },
                         {40, 150}, {150, 70}, compute, gradient);
      check_rounded_once(
          [](const Tensor& x, const Tensor& w, const Tensor&) { return conv2d(x, w, {.padding = 1}); },
          {2, 5, 5, 30}, {3, 3, 30, 40}, compute, gradient);
    }
  }
  // 1.125 + 2^-12 lies above the middle of 1 and 1.25. FP16 has no such number, and 1.125 goes to the even 1.
  const Tensor x = Tensor::from({3, 1}, std::vector<float>{1, 0.125f, 0x1p-12f}, f16),
               w = Tensor::from({1, 1}, std::vector<float>{1}, f16).set_requires_grad(true);
  Recipe recipe = products_in(e5m2, e5m2, e5m2);
  recipe.compute = f16;
  const Float8Products products(Weights({{"layer 1 weight", w}}), recipe);
  const Float8Products::Region region(products);
  Tape tape;
  tape.backward(sum(matmul(x, w)));
  CHECK(w.grad().item() == 1.25);
}

TEST_CASE("FP8 products: what a 16-bit model computes between its products stays in 16 bits") {
  const Tensor w = drawn({8, 4}, f16, 1), b = drawn({4}, f16, 2), x = drawn({3, 8}, f16, 3);
  Recipe recipe = products_in(e5m2, e5m2);
  recipe.compute = f16;
  const Float8Products products(Weights({{"layer 1 weight", w}, {"layer 1 bias", b}}), recipe);
  const Float8Products::Region region(products);
  const Tensor y = linear(x, w, b, {.activation = Activation::relu});
  CHECK(y.dtype() == f16);
  CHECK(linear(x, drawn({8, 4}, f16, 1), b).dtype() == f16);  // a weight of another model: not in FP8
}

TEST_CASE("FP8 products: of a transformer the linear layers, and its tied table is the last") {
  const auto covered = [](nn::Transformer::Kind kind, const char* exempt) {
    Rng rng(1);
    Recipe recipe = products_in(e4m3, e5m2);
    recipe.eight_bits.exempt = LayerNames::from(exempt);
    const nn::Transformer model(kind, {.words = 5, .context = 4, .layers = 1, .width = 4, .heads = 2}, recipe,
                                rng);
    const Float8Products products(model, recipe);
    const Float8Products::Region region(products);
    std::string names;
    for (const nn::Parameter& p : model.parameters())
      if (product_policy()->covers(p.value)) names += p.name.substr(0, p.name.rfind(' ')) + ";";
    return names;
  };
  const std::string block =
      "block 1 query;block 1 key;block 1 value;block 1 out;block 1 first;block 1 second;";
  for (const char* exempt : {"", "last", "first,last"}) {
    INFO(exempt);
    CHECK(covered(nn::Transformer::Kind::decoder, exempt) == block);
    CHECK(covered(nn::Transformer::Kind::encoder, exempt) == block + "transform;");
  }
}

TEST_CASE("FP8 products: the exempt layers, by name and by place") {
  const auto covered = [&](const char* exempt,
                           const std::vector<std::string>& layers = {"layer 1", "layer 2", "layer 3"}) {
    std::vector<nn::Parameter> parameters;
    for (const std::string& layer : layers) {
      parameters.push_back({layer + " weight", weight({2, 2}, 1)});
      parameters.push_back({layer + " bias", drawn({2}, f32, 1)});
    }
    Recipe recipe = products_in(e4m3, e5m2);
    recipe.eight_bits.exempt = LayerNames::from(exempt);
    const Float8Products products(Weights(parameters), recipe);
    const Float8Products::Region region(products);
    std::string names;
    for (const nn::Parameter& p : parameters)
      if (product_policy()->covers(p.value)) names += p.name + ";";
    CHECK(products.covered() == static_cast<std::size_t>(std::ranges::count(names, ';')));
    return names;
  };
  CHECK(covered("") == "layer 1 weight;layer 2 weight;layer 3 weight;");
  CHECK(covered("first,last") == "layer 2 weight;");
  CHECK(covered("layer 2") == "layer 1 weight;layer 3 weight;");
  CHECK(covered("l*3,first") == "layer 2 weight;");
  // A pattern may look like a word: "first" and "last" count only where they are written out.
  CHECK(covered("*2") == "layer 1 weight;layer 3 weight;");
  CHECK(covered("f*,layer 2", {"fourth", "layer 2", "out"}) == "out weight;");
  CHECK(covered("*t", {"in", "middle", "out"}) == "in weight;middle weight;");
  CHECK(covered("l*", {"lstm", "middle", "out"}) == "middle weight;out weight;");
  CHECK(covered("*t,first", {"in", "middle", "out"}) == "middle weight;");
  CHECK(covered("last,l*", {"lstm", "middle", "out"}) == "middle weight;");
  CHECK_SAYS("the model has no layer \"firs*\"", covered("firs*"));
  CHECK(covered("*").empty());
  CHECK_SAYS("the model has no layer \"layer 4\"", covered("layer 4,last"));
  CHECK(product_policy() == nullptr);
}

TEST_CASE("FP8 products: random words belong to a step, and a weight is rounded once in a region") {
  const Tensor x = drawn({64, 32}, f32, 1), w = weight({32, 16}, 2);
  Recipe recipe = products_in(e5m2, e5m2);
  recipe.rounding = {.weights = Rounding::stochastic, .activations = Rounding::nearest_even};
  const Weights model({{"layer 1 weight", w}});
  const Float8Products products(model, recipe, 7), again(model, recipe, 7), other(model, recipe, 8);
  const auto step = [&](const Float8Products& p) {
    p.begin_step();
    const Float8Products::Region region(p);
    const Tensor y = matmul(x, w);
    CHECK(bits_equal(y, matmul(x, w)));
    return y;
  };
  const Tensor first = step(products), second = step(products);
  CHECK_FALSE(bits_equal(first, second));
  CHECK(bits_equal(step(again), first));
  CHECK_FALSE(bits_equal(step(other), first));
  again.set_step(1);
  CHECK(bits_equal(step(again), second));
  // The mean over many steps is the product of what was not rounded at random.
  const std::vector<double> exact = matmul(rounded(x, e5m2), w).to_doubles();
  std::vector<double> mean(exact.size());
  constexpr int steps = 400;
  for (int s = 0; s < steps; ++s) {
    const std::vector<double> y = step(products).to_doubles();
    for (std::size_t i = 0; i < y.size(); ++i) mean[i] += y[i] / steps;
  }
  double worst = 0;  // a product's deviation: |x| of about 1.2, steps of E5M2 of up to 0.5, 32 terms
  for (std::size_t i = 0; i < mean.size(); ++i) worst = std::max(worst, std::abs(mean[i] - exact[i]));
  CHECK(worst < 5.5 * std::sqrt(32.0) * 4 * 0.5 / std::sqrt(steps));
}

TEST_CASE("FP8 products: evaluation has random words of its own, and takes none of training") {
  const Tensor x = drawn({64, 32}, f32, 1), w = weight({32, 16}, 2);
  Recipe recipe = products_in(e5m2, e5m2, e5m2);
  recipe.rounding = {.weights = Rounding::stochastic,
                     .activations = Rounding::stochastic,
                     .errors = Rounding::stochastic,
                     .gradients = Rounding::stochastic};
  const Weights model({{"layer 1 weight", w}});
  const auto train = [&](const Float8Products& p, const std::function<void()>& between) {
    p.begin_step();
    {
      const Float8Products::Region region(p);
      between();
      w.clear_grad();
      Tape tape;
      const Tensor y = matmul(x, w);
      tape.backward(sum(y));
      p.end_step();
      return std::pair{y, w.grad()};
    }
  };
  const auto evaluate = [&](const Float8Products& p, int uses) {
    const Float8Products::Region region(p);
    Tensor y;
    for (int i = 0; i < uses; ++i) {
      const Float8Products::Region inner(p);  // the outermost one counts
      y = matmul(x, w);
    }
    return y;
  };
  const Float8Products alone(model, recipe, 7), measured(model, recipe, 7), resumed(model, recipe, 7);
  std::vector<Tensor> after;
  for (int step = 1; step <= 3; ++step) {
    const auto plain = train(alone, [] {});
    const auto other = train(measured, [&] { static_cast<void>(matmul(x, w)); });
    CHECK(bits_equal(plain.first, other.first));
    CHECK(bits_equal(plain.second, other.second));
    static_cast<void>(evaluate(measured, step));
    after.push_back(evaluate(alone, 2));
    CHECK(bits_equal(evaluate(measured, 2), after.back()));
    resumed.set_step(step);  // no step since then
    CHECK(bits_equal(evaluate(resumed, 2), after.back()));
    CHECK_FALSE(bits_equal(evaluate(resumed, 1), after.back()));
    CHECK_FALSE(bits_equal(plain.first, evaluate(alone, 1)));
  }
  CHECK_FALSE(bits_equal(after[0], after[1]));
  CHECK_FALSE(bits_equal(after[1], after[2]));
}

TEST_CASE("FP8 products: infinity beyond the largest number, or the largest number") {
  const Tensor x = Tensor::from({1, 2}, std::vector<float>{1e6f, 0}), w = weight({2, 2}, 1);
  const Weights model({{"layer 1 weight", w}});
  for (const bool saturate : {false, true}) {
    Recipe recipe = products_in(e5m2, e5m2);
    recipe.eight_bits.saturate = saturate;
    const Float8Products products(model, recipe);
    const Float8Products::Region region(products);
    CHECK(std::isfinite(matmul(x, w).to_floats()[0]) == saturate);
  }
}

TEST_CASE("FP8 products: refuses recipes that no product can follow") {
  const auto refused = [](const Recipe& recipe) { return [recipe] { expect_eight_bits(recipe); }; };
  CHECK_SAYS("f16, which is not FP8", refused(products_in(f16, e5m2))());
  CHECK_SAYS("choose e4m3 or e5m2 for both", refused(products_in(e4m3, f32))());
  CHECK_SAYS("choose e4m3 or e5m2 for both", refused(products_in(f32, e5m2))());
  CHECK_SAYS("no product is in FP8", refused(products_in(f32, f32, e5m2))());
  Recipe recipe = products_in(e4m3, e5m2);
  recipe.autocast = f16;
  CHECK_SAYS("autocast gives products copies", refused(recipe)());
  recipe = products_in(e4m3, e5m2);
  recipe.accumulate = f16;
  CHECK_SAYS("their sums are f32", refused(recipe)());
  Recipe rounding;
  rounding.rounding.errors = Rounding::stochastic;
  CHECK_SAYS("no format of this recipe does so", expect_roundings(rounding));
  rounding.eight_bits = {.forward = e4m3, .backward = e5m2};
  CHECK_NOTHROW(expect_roundings(rounding));
  rounding.rounding.gradients = Rounding::stochastic;
  CHECK_SAYS("no format of this recipe does so", expect_roundings(rounding));
}

TEST_CASE("FP8 products: a recipe describes itself") {
  CHECK(describe(recipes::fp8_e5m2) ==
        "f16, no master, products e5m2, gradients through e5m2, but first,last, S dynamic from 65536");
  Recipe hybrid{.compute = bf16, .gradient = bf16};
  hybrid.eight_bits = {.forward = e4m3, .backward = e5m2, .saturate = true};
  hybrid.rounding.errors = Rounding::stochastic;
  CHECK(describe(hybrid) == "bf16, master f32, products e4m3/e5m2, saturating, errors rounded stochastic");
  CHECK(recipe_from_name("fp8_e5m2") == recipes::fp8_e5m2);
}

}  // namespace tinymp::test
