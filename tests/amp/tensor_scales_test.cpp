#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/kernels/float8_rig.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/ops/ops.h>
#include <cmath>
#include <functional>
#include <map>

/// The scales of tensors in FP8, and the products of scaled tensors. Plain floats say what is expected: each rule is written
/// down again here, and each tensor is scaled and rounded value by value out of the tables of the formats.
namespace tinymp::test {
namespace {

using enum DType;

class Layers final : public nn::Module {
 public:
  explicit Layers(std::vector<nn::Parameter> all) : all_(std::move(all)) {}
  std::vector<nn::Parameter> parameters() const override { return all_; }
  std::string name() const override { return "layers"; }

 private:
  std::vector<nn::Parameter> all_;
};

Tensor parameter(Shape shape, std::uint64_t seed) {
  return drawn(shape, f32, seed, 1).set_requires_grad(true);
}

Recipe scaled_products(TensorScaling scaling) {
  return {.eight_bits = {.forward = e4m3, .backward = e5m2, .saturate = true, .scaling = scaling}};
}

float amax_by_hand(const Tensor& x) {
  float most = 0;
  for (const float v : x.to_floats())
    if (std::fabs(v) > most) most = std::fabs(v);
  return most;
}

/// A tensor as it goes into a product: numbers of FP8, and what they were multiplied with.
struct Scaled {
  Tensor numbers;
  float scale = 1;
};

Scaled scaled(const Tensor& x, float scale, DType format) {
  const Spec& spec = spec_of(format);
  const NearestCode nearest(spec);
  std::vector<float> values;
  for (const float v : x.to_floats())
    values.push_back(
        static_cast<float>(value_of_code(spec, nearest(static_cast<double>(scale * v), Overflow::saturate))));
  return {Tensor::from(x.shape(), values), scale};
}

float factor_of(const Scaled& a, const Scaled& b) {
  return static_cast<float>(1 / (static_cast<double>(a.scale) * static_cast<double>(b.scale)));
}

/// The three products of a layer y = x w + b by hand, by the plain op on the rounded numbers.
struct ByHand {
  Tensor y, dx, dw;
};
using Op = std::function<Tensor(const Tensor& x, const Tensor& w)>;
ByHand by_hand(const Op& op, const Scaled& x, const Scaled& w, const Scaled& dy) {
  for (const Tensor& t : {x.numbers, w.numbers}) t.clear_grad(), t.set_requires_grad(true);
  Tensor y;
  {
    Tape tape;
    y = op(x.numbers, w.numbers);
    tape.backward(sum(multiply(y, dy.numbers)));
  }
  return {scale(y, factor_of(x, w)), scale(x.numbers.grad(), factor_of(dy, w)),
          scale(w.numbers.grad(), factor_of(x, dy))};
}

float te_current(float amax, float largest) {
  if (amax == 0 || !std::isfinite(amax)) return 1;
  const float quotient = largest / amax;
  return std::isinf(quotient) ? std::numeric_limits<float>::max() : quotient;
}

/// DelayedScaling of Transformer Engine for one tensor: slot 0 is that of the step, and a roll moves the others.
class Delayed {
 public:
  Delayed(float largest, const EightBits& how)
      : largest_(largest), how_(how), slots_(static_cast<std::size_t>(how.history)) {}

  float scale() const { return scale_; }
  void see(float amax) {
    slots_[0] = std::fmax(slots_[0], amax);
    used_ = true;
  }
  void see(const Tensor& x) { see(amax_by_hand(x)); }
  void end_step() {
    if (!std::exchange(used_, false)) return;
    float amax = slots_[0];
    if (how_.amax == AmaxAlgorithm::max)
      for (const float slot : slots_) amax = std::fmax(amax, slot);
    std::rotate(slots_.begin(), slots_.begin() + 1, slots_.end());
    // The amax of the step goes to the end, and slot 0, the oldest, is free. Of one slot nothing is kept.
    slots_[0] = 0;
    const float most = largest_ * std::ldexp(1.0f, -how_.margin);
    if (amax > 0 && std::isfinite(amax)) scale_ = te_current(amax, most);
  }

 private:
  float largest_;
  EightBits how_;
  std::vector<float> slots_;
  float scale_ = 1;
  bool used_ = false;
};

/// The scales of one layer by hand.
struct LayerByHand {
  Delayed x, w, dy;
  explicit LayerByHand(const EightBits& how) : x(448, how), w(448, how), dy(57344, how) {}
  void see(const Tensor& input, const Tensor& weight, const Tensor& error) {
    x.see(input), w.see(weight), dy.see(error);
  }
  void end_step() { x.end_step(), w.end_step(), dy.end_step(); }
};

void check_scales(const std::vector<Float8Products::Scale>& found,
                  const std::vector<const LayerByHand*>& expected) {
  REQUIRE(found.size() == 3 * expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    INFO(found[3 * i].layer);
    CHECK(found[3 * i].scale == expected[i]->x.scale());
    CHECK(found[3 * i + 1].scale == expected[i]->w.scale());
    CHECK(found[3 * i + 2].scale == expected[i]->dy.scale());
  }
}

/// What the steps of the test meet besides growth.
enum class Event { none, zeros, infinity, second_rests, first_runs_twice };
Event event_of(int step) {
  const std::map<int, Event> events{
      {4, Event::second_rests}, {5, Event::second_rests},      {9, Event::zeros},
      {13, Event::infinity},    {20, Event::first_runs_twice}, {26, Event::second_rests}};
  const auto found = events.find(step);
  return found == events.end() ? Event::none : found->second;
}

Tensor input_of(int step, Event event, std::uint64_t seed) {
  if (event == Event::zeros) return Tensor::from({5, 8}, std::vector<float>(40, 0.0f));
  std::vector<float> values = drawn({5, 8}, f32, seed + static_cast<std::uint64_t>(step)).to_floats();
  for (float& v : values) v *= std::ldexp(1.0f, step / 3);
  if (event == Event::infinity) values[7] = std::numeric_limits<float>::infinity();
  return Tensor::from({5, 8}, values);
}

void check_delayed_steps(const EightBits& eight_bits) {
  INFO("margin " << eight_bits.margin << ", " << eight_bits.history << " steps, "
                 << name_of(eight_bits.amax));
  const Tensor w1 = parameter({8, 6}, 1), w2 = parameter({6, 3}, 2);
  const Recipe recipe{.eight_bits = eight_bits};
  const Float8Products products(Layers({{"first weight", w1}, {"second weight", w2}}), recipe);
  LayerByHand first(eight_bits), second(eight_bits);
  const Op product = [](const Tensor& x, const Tensor& w) { return matmul(x, w); };
  for (int step = 0; step < 36; ++step) {
    const Event event = event_of(step);
    INFO("step " << step);
    const Tensor x = input_of(step, event, 100), other = input_of(step + 4, event, 500);
    const Tensor g = drawn({5, 3}, f32, 50 + static_cast<std::uint64_t>(step), 0.01f),
                 g1 = drawn({5, 6}, f32, 90 + static_cast<std::uint64_t>(step), 0.5f);
    for (const Tensor& t : {x, w1, w2, other}) t.clear_grad(), t.set_requires_grad(true);
    Tensor y1, y2, y3;
    products.begin_step();
    {
      const Float8Products::Region region(products);
      Tape tape;
      y1 = matmul(x, w1);
      Tensor loss = sum(multiply(y1, g1));
      if (event != Event::second_rests) {
        y2 = matmul(y1, w2);
        loss = sum(multiply(y2, g));
      }
      if (event == Event::first_runs_twice) {
        y3 = matmul(other, w1);
        loss = add(loss, sum(multiply(y3, g1)));
      }
      tape.backward(loss);
    }
    products.end_step();

    Tensor error = g1;
    if (event != Event::second_rests) {
      const ByHand expected = by_hand(product, scaled(y1, second.x.scale(), e4m3),
                                      scaled(w2, second.w.scale(), e4m3), scaled(g, second.dy.scale(), e5m2));
      CHECK(bits_equal(y2, expected.y));
      CHECK(bits_equal(w2.grad(), expected.dw));
      second.see(y1, w2, g);
      error = expected.dx;
    }
    const Scaled w = scaled(w1, first.w.scale(), e4m3);
    const ByHand expected =
        by_hand(product, scaled(x, first.x.scale(), e4m3), w, scaled(error, first.dy.scale(), e5m2));
    CHECK(bits_equal(y1, expected.y));
    CHECK(bits_equal(x.grad(), expected.dx));
    if (event != Event::first_runs_twice) CHECK(bits_equal(w1.grad(), expected.dw));
    first.see(x, w1, error);
    if (event == Event::first_runs_twice) {
      const ByHand twice =
          by_hand(product, scaled(other, first.x.scale(), e4m3), w, scaled(g1, first.dy.scale(), e5m2));
      CHECK(bits_equal(y3, twice.y));
      CHECK(bits_equal(other.grad(), twice.dx));
      first.see(other, w1, g1);
    }
    first.end_step(), second.end_step();
    check_scales(products.scales(), {&first, &second});
  }
}

/// The largest magnitude of each tensor that became FP8, by "layer 1 weight activations", as it was before it was scaled.
class AmaxObserver final : public Observer {
 public:
  explicit AmaxObserver(const nn::Module& model) : parameters_(model.parameters()) {}
  void forward(const tinymp::Op&, const std::vector<Tensor>&, const Tensor&) override {}
  void narrowed(const Narrowed& t) override {
    if (t.kind == Narrowed::Kind::gradients) return;
    const auto owner =
        std::ranges::find(parameters_, t.weight.id(), [](const nn::Parameter& p) { return p.value.id(); });
    REQUIRE(owner != parameters_.end());
    float& most = seen[concat(owner->name, " ", name_of(t.kind))];
    most = std::max(most, amax_by_hand(t.before));
  }
  std::map<std::string, float> seen;

 private:
  std::vector<nn::Parameter> parameters_;
};

/// linear, matmul or conv2d with current scales; `pure` is the op without its bias.
void check_current(const Op& pure,
                   const std::function<Tensor(const Tensor&, const Tensor&, const Tensor&)>& op,
                   const Shape& of_x, const Shape& of_w, std::int64_t outputs) {
  for (const auto& [forward, backward] : {std::pair{e4m3, e5m2}, {e5m2, e5m2}, {e4m3, e4m3}}) {
    INFO(forward << ", " << backward);
    const Tensor x = drawn(of_x, f32, 1, 2000).set_requires_grad(true), w = parameter(of_w, 2);
    const Tensor b = parameter({outputs}, 3);
    Recipe recipe = scaled_products(TensorScaling::current);
    recipe.eight_bits.forward = forward, recipe.eight_bits.backward = backward;
    const Float8Products products(Layers({{"layer weight", w}, {"layer bias", b}}), recipe);
    Tensor y, g;
    products.begin_step();
    {
      const Float8Products::Region region(products);
      Tape tape;
      y = op(x, w, b);
      g = drawn(y.shape(), f32, 4, 1e-5f);
      tape.backward(sum(multiply(y, g)));
    }
    products.end_step();
    const auto current = [](const Tensor& t, DType format) {
      return scaled(t, te_current(amax_by_hand(t), format == e4m3 ? 448.0f : 57344.0f), format);
    };
    const Scaled rounded_x = current(x, forward), rounded_w = current(w, forward), dy = current(g, backward);
    const ByHand expected = by_hand(pure, rounded_x, rounded_w, dy);
    CHECK(bits_equal(y, add_bias(expected.y, b)));
    CHECK(bits_equal(x.grad(), expected.dx));
    CHECK(bits_equal(w.grad(), expected.dw));
    const std::vector<Float8Products::Scale> scales = products.scales();
    REQUIRE(scales.size() == 3);
    CHECK((scales[0].scale == rounded_x.scale && scales[0].amax == amax_by_hand(x)));
    CHECK((scales[1].scale == rounded_w.scale && scales[1].format == forward));
    CHECK((scales[2].scale == dy.scale && scales[2].format == backward && scales[2].role == "errors"));
  }
}

void step_of(const Float8Products& products, const Tensor& x, const Tensor& w) {
  const Float8Products::Region region(products);
  Tape tape;
  tape.backward(sum(matmul(x, w)));
}

}  // namespace

TEST_CASE(
    "delayed scales: 36 steps of growing activations, zeros, infinity, a layer that rests, one that runs "
    "twice") {
  EightBits how = scaled_products(TensorScaling::delayed).eight_bits;
  check_delayed_steps(how);
  for (const int history : {1, 5})
    for (const AmaxAlgorithm amax : {AmaxAlgorithm::max, AmaxAlgorithm::most_recent}) {
      how.history = history, how.amax = amax, how.margin = history == 5 ? 2 : -1;
      check_delayed_steps(how);
    }
  how.forward = e5m2;  // its largest number is another
  how.history = 5;
  const Tensor x = drawn({4, 8}, f32, 1), w = parameter({8, 2}, 2);
  const Float8Products products(Layers({{"layer weight", w}}), {.eight_bits = how});
  products.begin_step();
  step_of(products, x, w);
  products.end_step();
  CHECK(products.scales()[0].scale == 57344 * std::ldexp(1.0f, -how.margin) / amax_by_hand(x));
}

TEST_CASE("current scales: the products of linear, matmul and conv2d by hand") {
  const Op product = [](const Tensor& x, const Tensor& w) { return matmul(x, w); };
  const Op window = [](const Tensor& x, const Tensor& w) { return conv2d(x, w, {.padding = 1}); };
  check_current(
      product, [](const Tensor& x, const Tensor& w, const Tensor& b) { return linear(x, w, b); }, {5, 37},
      {37, 7}, 7);
  check_current(
      product, [](const Tensor& x, const Tensor& w, const Tensor& b) { return add_bias(matmul(x, w), b); },
      {5, 37}, {37, 7}, 7);
  check_current(
      window,
      [](const Tensor& x, const Tensor& w, const Tensor& b) { return conv2d(x, w, b, {.padding = 1}); },
      {2, 6, 6, 3}, {3, 3, 3, 5}, 5);
}

TEST_CASE("current scales: each use has its own, and zeros and infinity have 1") {
  const Tensor w = parameter({8, 6}, 1);
  const Float8Products products(Layers({{"layer weight", w}}), scaled_products(TensorScaling::current));
  const auto scale_after = [&](const std::vector<Tensor>& inputs) {
    products.begin_step();
    for (const Tensor& x : inputs) step_of(products, x, w);
    products.end_step();
    return products.scales()[0].scale;
  };
  const Tensor small = drawn({2, 8}, f32, 2, 1e-3f), large = drawn({2, 8}, f32, 3, 1e3f);
  CHECK(scale_after({large, small}) == te_current(amax_by_hand(small), 448));
  CHECK(scale_after({small, large}) == te_current(amax_by_hand(large), 448));
  CHECK(scale_after({input_of(0, Event::zeros, 1)}) == 1);
  CHECK(scale_after({input_of(0, Event::infinity, 1)}) == 1);
  const Float8Products torchao(Layers({{"layer weight", w}}), scaled_products(TensorScaling::torchao));
  torchao.begin_step();
  step_of(torchao, input_of(0, Event::zeros, 1), w);
  torchao.end_step();
  CHECK(torchao.scales()[0].scale == static_cast<float>(448.0 / 1e-12));
}

TEST_CASE("current scales: backward has the scale of its own use, though another use came between") {
  const Op product = [](const Tensor& x, const Tensor& w) { return matmul(x, w); };
  const Recipe recipe = scaled_products(TensorScaling::current);
  const Tensor w = parameter({8, 6}, 1);
  const Tensor small = drawn({2, 8}, f32, 2, 1e-3f), large = drawn({2, 8}, f32, 3, 1e3f);
  const Tensor weak = drawn({2, 6}, f32, 4, 1e-5f), strong = drawn({2, 6}, f32, 5, 1e4f);
  const Float8Products products(Layers({{"layer weight", w}}), recipe);
  products.begin_step();
  {
    const Float8Products::Region region(products);
    Tape tape;
    const Tensor y = product(small, w), z = product(large, w);
    tape.backward(add(sum(multiply(y, strong)), sum(multiply(z, weak))));
  }
  products.end_step();
  const auto current = [](const Tensor& t, DType format) {
    return scaled(t, te_current(amax_by_hand(t), format == e4m3 ? 448.0f : 57344.0f), format);
  };
  const DType forward = recipe.eight_bits.forward, backward = recipe.eight_bits.backward;
  const Scaled rounded_w = current(w, forward);
  const Tensor first = by_hand(product, current(small, forward), rounded_w, current(strong, backward)).dw;
  const Tensor second = by_hand(product, current(large, forward), rounded_w, current(weak, backward)).dw;
  CHECK(bits_equal(w.grad(), add(first, second)));
}

TEST_CASE("current scales: a NaN makes torchao's scale NaN, and Transformer Engine's does not see it") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::from({2, 2}, std::vector<float>{nan, 1, 2, -3}), w = parameter({2, 3}, 1);
  const auto product = [&](TensorScaling scaling, float& scale) {
    const Float8Products products(Layers({{"layer weight", w}}), scaled_products(scaling));
    products.begin_step();
    Tensor y;
    {
      const Float8Products::Region region(products);
      Tape tape;
      y = matmul(x, w);
      tape.backward(sum(y));
    }
    products.end_step();
    scale = products.scales()[0].scale;
    return y.to_floats();
  };
  float scale = 0;
  for (const float v : product(TensorScaling::torchao, scale)) CHECK(std::isnan(v));
  CHECK(std::isnan(scale));
  const std::vector<float> te = product(TensorScaling::current, scale);
  CHECK(scale == 448.0f / 3);
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::isnan(te[i]) == (i < 3));  // the row of the NaN alone
}

TEST_CASE("delayed scales: with the largest margin none is 0, and a run's own state is no damaged one") {
  const float most = std::numeric_limits<float>::max();
  for (const DType format : {e4m3, e5m2}) {
    Recipe recipe = scaled_products(TensorScaling::delayed);
    recipe.eight_bits.forward = recipe.eight_bits.backward = format;
    recipe.eight_bits.margin = EightBits::largest_margin;
    recipe.eight_bits.history = 2;
    CHECK_NOTHROW(expect_eight_bits(recipe));
    const Tensor w = parameter({2, 2}, 1);
    const Float8Products products(Layers({{"layer weight", w}}), recipe);
    products.begin_step();
    step_of(products, Tensor::from({1, 2}, std::vector<float>{most, 1}), w);
    products.end_step();
    CHECK(products.scales()[0].scale > 0);
    CHECK_NOTHROW(products.restore(products.state()));
    recipe.eight_bits.margin += 1;
    CHECK_SAYS("margin of 31; it is -100 to 30", expect_eight_bits(recipe));
  }
  // No smaller limit would do for E4M3, and none is needed.
  CHECK(delayed_scale_of({.largest = 448, .margin = EightBits::largest_margin + 1}, most, 1) == 0);
}

TEST_CASE("delayed scales: nothing outside of training moves them, and micro-batches are one step") {
  const Tensor w = parameter({8, 6}, 1), small = drawn({2, 8}, f32, 2, 1), large = drawn({2, 8}, f32, 3, 50);
  Recipe recipe = scaled_products(TensorScaling::delayed);
  recipe.eight_bits.history = 3;
  const Float8Products products(Layers({{"layer weight", w}}), recipe);
  const auto texts = [&] {
    std::string text;
    for (const Float8Products::Scale& s : products.scales())
      text += concat(s.role, " ", s.scale, " ", s.amax, "\n");
    return text;
  };
  products.begin_step();
  step_of(products, large, w);
  step_of(products, small, w);
  products.end_step();
  CHECK(products.scales()[0].amax == amax_by_hand(large));
  CHECK(products.scales()[0].scale == 448 / amax_by_hand(large));
  const std::string before = texts();
  {
    const Float8Products::Region region(products);
    for (int i = 0; i < 3; ++i) static_cast<void>(matmul(drawn({2, 8}, f32, 9, 1e4f), w));  // an evaluation
  }
  step_of(products, drawn({2, 8}, f32, 9, 1e4f), w);  // in no step
  CHECK(texts() == before);
  products.begin_step();
  {
    const Float8Products::Region region(products);
    static_cast<void>(matmul(drawn({2, 8}, f32, 9, 1e4f), w));  // without a tape
  }
  step_of(products, small, w);
  products.end_step();
  CHECK(products.scales()[0].amax == amax_by_hand(small));
  CHECK(products.scales()[1].amax == amax_by_hand(w));

  products.begin_step();
  step_of(products, drawn({2, 8}, f32, 9, 1e4f), w);
  CHECK_SAYS("the one before it has not ended; call end_step()", products.begin_step());
  const std::string after = texts();
  products.set_step(2);  // the step is given up
  products.begin_step();
  products.end_step();
  CHECK(texts() == after);
}

TEST_CASE("delayed scales: a pass without a tape measures no weight, and hides none from training") {
  const Tensor w = parameter({8, 6}, 1), x = drawn({2, 8}, f32, 2, 1);
  Recipe recipe = scaled_products(TensorScaling::delayed);
  recipe.eight_bits.history = 2;
  const Float8Products products(Layers({{"layer weight", w}}), recipe);
  const auto step = [&](bool trains) {
    products.begin_step();
    {
      const Float8Products::Region region(products);
      static_cast<void>(matmul(x, w));
      if (trains) {
        Tape tape;
        tape.backward(sum(matmul(x, w)));
      }
      static_cast<void>(matmul(x, w));
    }
    products.end_step();
    return products.scales();
  };
  for (const Float8Products::Scale& s : step(false)) {
    INFO(s.role);
    CHECK(s.scale == 1);
    CHECK(s.amax == 0);
  }
  const std::vector<Float8Products::Scale> after = step(true);
  CHECK(after[0].scale == 448 / amax_by_hand(x));
  CHECK(after[1].scale == 448 / amax_by_hand(w));
  CHECK(after[2].scale == 57344);
}

TEST_CASE("delayed scales: a state goes on with the same scales, and that of another model is refused") {
  const Tensor w = parameter({8, 6}, 1);
  Recipe recipe = scaled_products(TensorScaling::delayed);
  recipe.eight_bits.history = 3;
  const Layers model({{"layer weight", w}});
  const Float8Products whole(model, recipe), resumed(model, recipe);
  const auto step = [&](const Float8Products& products, int number) {
    products.begin_step();
    step_of(products,
            drawn({2, 8}, f32, static_cast<std::uint64_t>(number), 8.0f / static_cast<float>(number)), w);
    products.end_step();
  };
  for (int t = 1; t <= 4; ++t) step(whole, t);
  const DelayedScaleState state = whole.state();
  for (int t = 5; t <= 9; ++t) step(whole, t);
  resumed.restore(state);
  for (int t = 5; t <= 9; ++t) step(resumed, t);
  CHECK(bits_equal(whole.state().history, resumed.state().history));
  CHECK(bits_equal(whole.state().scale, resumed.state().scale));
  CHECK(bits_equal(whole.state().next, resumed.state().next));

  recipe.eight_bits.history = 4;
  const Float8Products longer(model, recipe), current(model, scaled_products(TensorScaling::current));
  CHECK_SAYS("histories(3, 3), and the model(3, 4)", longer.restore(state));
  CHECK_SAYS("histories(3, 3), and the model()", current.restore(state));
  CHECK(current.state().history.operator bool() == false);
  DelayedScaleState wrong = whole.state();
  wrong.next.data<double>()[1] = 3;
  CHECK_SAYS("place 3 in a history of 3 steps", resumed.restore(wrong));
  wrong = whole.state();
  wrong.scale.data<float>()[2] = 0;
  CHECK_SAYS("a delayed scale of 0", resumed.restore(wrong));
}

TEST_CASE("delayed scales: an LSTM uses its weights in each step of a sequence, with one scale") {
  Recipe recipe = recipes::fp8_hybrid;
  recipe.eight_bits.history = 4;
  Rng rng(1);
  const nn::LanguageModel model(20, 8, recipe, rng);
  const Float8Products products(model, recipe);
  const std::vector<std::int32_t> tokens{1, 5, 7, 3, 2, 19, 4, 4, 0, 9, 11, 12};
  std::map<std::string, Delayed> expected;
  for (int step = 0; step < 6; ++step) {
    AmaxObserver observer(model);
    products.begin_step();
    {
      const Float8Products::Region region(products);
      Tape tape(&observer);
      tape.backward(sum(cast(model(tokens, 3), f32)));
    }
    products.end_step();
    CHECK(observer.seen.size() == 6);
    for (const Float8Products::Scale& s : products.scales()) {
      const std::string name = concat(s.weight, " ", s.role);
      INFO(name << " " << step);
      const Delayed first(s.format == e4m3 ? 448.0f : 57344.0f, recipe.eight_bits);
      Delayed& scale = expected.emplace(name, first).first->second;
      REQUIRE(observer.seen.contains(name));
      scale.see(observer.seen.at(name)), scale.end_step();
      CHECK(s.scale == scale.scale());
      CHECK(s.amax == observer.seen.at(name));
    }
  }
  CHECK(expected.size() == 6);  // of two weights: no product reads the table
}

}  // namespace tinymp::test
