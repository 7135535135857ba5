#include <tinymp/autograd/recompute.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/autograd/nonfinite_tracer.h>
#include <tinymp/base/memory_account.h>
#include <tinymp/nn/layers.h>
#include <tinymp/nn/norm.h>
#include <tinymp/ops/ops.h>
#include <sstream>

/// Blocks that run again in backward, beside the same blocks on a plain tape.
namespace tinymp::test {
namespace {

using enum DType;
using Block = std::function<Tensor(const Tensor&)>;

Tensor wanted(Shape shape, std::uint64_t seed, DType dtype = f32) {
  return drawn(shape, dtype, seed, 1).set_requires_grad(true);
}

/// A loss and the gradients of some leaves.
std::vector<Tensor> seen(const std::vector<Tensor>& leaves, const std::function<Tensor()>& loss_of) {
  for (const Tensor& leaf : leaves) leaf.clear_grad();
  Tape tape;
  const Tensor loss = loss_of();
  tape.backward(loss);
  std::vector<Tensor> all{loss};
  for (const Tensor& leaf : leaves) all.push_back(leaf.grad());
  return all;
}

void check_same(const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    INFO((i == 0 ? "the loss" : concat("gradient ", i)));
    REQUIRE(bool(a[i]) == bool(b[i]));
    if (a[i]) CHECK(bits_equal(a[i], b[i]));
  }
}

/// block(x), recomputed or not.
Tensor run(bool again, const Block& block, const Tensor& x) { return again ? recompute(block, x) : block(x); }

struct TwoProducts {
  Tensor first = wanted({8, 16}, 1), second = wanted({16, 8}, 2);
  Tensor operator()(const Tensor& x) const { return matmul(relu(matmul(x, first)), second); }
};

TEST_CASE("recompute: a block is one op on the tape, and gradients have the same bits") {
  const TwoProducts block;
  for (const bool input_wants : {true, false}) {  // the first block of a model has images as its input
    const Tensor x = drawn({5, 8}, f32, 3, 1).set_requires_grad(input_wants);
    std::vector<Tensor> leaves{block.first, block.second};
    if (input_wants) leaves.push_back(x);
    std::vector<std::size_t> ops;
    const auto loss_of = [&](bool again) {
      return seen(leaves, [&] {
        const Tensor y = run(again, block, x);
        ops.push_back(Tape::current()->size());
        return sum(multiply(y, y));
      });
    };
    const std::vector<Tensor> plain = loss_of(false);
    check_same(plain, loss_of(true));
    CHECK(ops == std::vector<std::size_t>{3, 1});
  }
  Tape tape;
  recompute(block, drawn({5, 8}, f32, 3, 1));
  std::ostringstream text;
  text << tape;
  CHECK(text.str() == "  recompute   -> f32(5, 8)\n");
}

TEST_CASE("recompute: without a tape, and where nothing wants a gradient, the block only runs") {
  const Tensor x = drawn({5, 8}, f32, 3, 1);
  int runs = 0;
  const Block block = [&](const Tensor& y) {
    ++runs;
    return relu(y);
  };
  CHECK(bits_equal(recompute(block, x), relu(x)));
  Tape tape;
  CHECK_FALSE(recompute(block, x).requires_grad());
  CHECK(tape.size() == 0);
  CHECK(runs == 2);
}

TEST_CASE(
    "recompute: gradients are added in the same order, also of an input that is used around the block") {
  const Tensor x = wanted({64}, 1), w = wanted({64}, 2);
  const Block block = [&](const Tensor& y) { return add(multiply(y, w), multiply(multiply(y, y), w)); };
  const auto loss_of = [&](bool again) {
    return seen({x, w}, [&] {
      const Tensor before = multiply(x, w), y = scale(x, 3), z = run(again, block, y);
      return sum(multiply(add(multiply(z, w), y), add(before, y)));
    });
  };
  check_same(loss_of(false), loss_of(true));
}

TEST_CASE("recompute: blocks of several inputs and results, of which some reach the loss") {
  const Tensor a = wanted({64}, 1), b = wanted({64}, 2), none = drawn({64}, f32, 3);
  const auto block = [&](const std::vector<Tensor>& x) {
    const Tensor product = multiply(x[0], x[1]);
    return std::vector{product, add(product, x[1]), x[1], relu(none)};
  };
  for (std::size_t reached = 1; reached < 8; ++reached) {
    const auto loss_of = [&](bool again) {
      return seen({a, b}, [&] {
        const Tensor x = scale(a, 2), y = scale(b, 3);
        const std::vector<Tensor> all = again ? recompute(block, {x, y}) : block({x, y});
        CHECK(all[2].id() == y.id());
        CHECK_FALSE(all[3].requires_grad());
        Tensor total = multiply(x, y);
        for (std::size_t i = 0; i < 3; ++i)
          if ((reached >> i & 1) != 0) total = add(total, multiply(all[i], all[i]));
        return sum(total);
      });
    };
    INFO(reached);
    check_same(loss_of(false), loss_of(true));
  }
}

TEST_CASE("recompute: segments of segments") {
  const TwoProducts block;
  const Tensor x = wanted({5, 8}, 3);
  int runs = 0;
  const Block counted = [&](const Tensor& y) {
    ++runs;
    return block(y);
  };
  const auto loss_of = [&](bool again) {
    const Block twice = [&](const Tensor& y) { return run(again, counted, run(again, counted, y)); };
    return seen({x, block.first, block.second}, [&] {
      const Tensor y = run(again, twice, x);
      CHECK(Tape::current()->size() == (again ? 1 : 6));
      return mean(y);
    });
  };
  const std::vector<Tensor> plain = loss_of(false);
  CHECK(runs == 2);
  check_same(plain, loss_of(true));
  CHECK(runs == 2 + 2 + 2 + 2);  // as part of the outer one, twice, and then each alone
}

TEST_CASE("recompute: an effect happens once, and the second run gets what the first got") {
  const Tensor x = wanted({3}, 1);
  int effects = 0, silent = 0;
  std::vector<int> got;
  const Block block = [&](const Tensor& y) {
    got.push_back(remembered([&] { return ++effects; }));
    remembered([&] { ++silent; });
    const std::string text = remembered([&] { return std::string("a") + std::to_string(effects); });
    return scale(y, static_cast<float>(text.size()));
  };
  {
    Tape tape;
    const Tensor y = recompute(block, recompute(block, x));
    CHECK(got == std::vector<int>{1, 2});
    tape.backward(sum(y));
  }
  CHECK(got == std::vector<int>{1, 2, 2, 1});
  CHECK(effects == 2);
  CHECK(silent == 2);
  block(x);  // outside of a segment it happens each time
  CHECK(effects == 3);

  Tape tape;
  const Block twice = [&](const Tensor& y) { return recompute(block, recompute(block, y)); };
  tape.backward(sum(recompute(twice, x)));
  CHECK(effects == 5);
  CHECK(std::vector<int>(got.begin() + 5, got.end()) == std::vector<int>{4, 5, 4, 5, 5, 4});
}

TEST_CASE("recompute: a block that takes another course the second time is an error") {
  const Tensor x = wanted({3}, 1);
  int runs = 0;
  const auto backward = [&](const std::function<Tensor(const Tensor&, bool first)>& f) {
    runs = 0;
    Tape tape;
    tape.backward(sum(recompute([&](const Tensor& y) { return f(y, runs++ == 0); }, x)));
  };
  const char* const other = "the block took another course the second time";
  const auto effect = [] { remembered([] { return 1; }); };
  CHECK_SAYS(other,
             backward([&](const Tensor& y, bool first) { return first ? effect() : void(), relu(y); }));
  CHECK_SAYS(other,
             backward([&](const Tensor& y, bool first) { return first ? void() : effect(), relu(y); }));
  CHECK_SAYS(other, backward([&](const Tensor& y, bool first) {
               first ? effect() : remembered([] {});
               return relu(y);
             }));
  CHECK_SAYS(other, backward([](const Tensor& y, bool first) {
               return first ? relu(y) : reshape(relu(y), {3, 1});
             }));
  backward([&](const Tensor& y, bool) { return effect(), relu(y); });
}

TEST_CASE("recompute: a block that throws leaves the tape as it was") {
  const Tensor x = wanted({3}, 1);
  Tape tape;
  CHECK_SAYS("an accident", recompute(
                                [](const Tensor& y) -> Tensor {
                                  relu(y);
                                  remembered([] {});
                                  throw Error("an accident");
                                },
                                x));
  CHECK(tape.size() == 0);
  int effects = 0;
  for (int i = 0; i < 2; ++i) remembered([&] { ++effects; });
  CHECK(effects == 2);
  tape.backward(sum(relu(x)));
  CHECK(bool(x.grad()));
}

TEST_CASE("recompute: dropout has the mask of the first run, and counts its step once") {
  const Tensor x = wanted({4000}, 1);
  const auto loss_of = [&](bool again) {
    const nn::Dropout first(0.5f, 7), second(0.3f, 8);
    const Block block = [&](const Tensor& y) { return second(first(y)); };
    std::vector<Tensor> all;
    for (int step = 0; step < 2; ++step) {
      for (const Tensor& t : seen({x}, [&] { return mean(run(again, block, run(again, block, x))); }))
        all.push_back(t);
    }
    all.push_back(first.step);
    return all;
  };
  const std::vector<Tensor> recomputed = loss_of(true);
  CHECK(recomputed.back().item() == 4);
  check_same(loss_of(false), recomputed);
}

TEST_CASE("recompute: the averages of batch norm move once") {
  const Tensor x = wanted({6, 4}, 1);
  const auto loss_of = [&](bool again) {
    const nn::BatchNorm norm(4, recipes::fp32);
    std::vector<Tensor> all = seen({x, norm.gamma, norm.beta}, [&] {
      const Tensor y = run(
          again, [&](const Tensor& t) { return relu(norm(t)); }, x);
      return mean(multiply(y, y));
    });
    all.insert(all.end(), {norm.running_mean, norm.running_variance});
    return all;
  };
  check_same(loss_of(false), loss_of(true));
}

TEST_CASE("recompute: the second run is under the autocast of the first, and takes its copies of weights") {
  const Tensor x = wanted({6, 8}, 1), w = wanted({8, 8}, 2), bias = wanted({8}, 3);
  w.bind_grad(Tensor::like(w));  // as an optimizer does
  const Block block = [&](const Tensor& y) { return softmax(linear(relu(linear(y, w, bias)), w, bias)); };
  for (const DType format : {f16, bf16}) {
    for (const bool is_over : {true, false}) {  // before backward
      std::vector<std::int64_t> casts;
      const auto loss_of = [&](bool again) {
        w.clear_grad();
        for (const Tensor& leaf : {x, bias}) leaf.clear_grad();
        Tape tape;
        std::optional<Autocast> region;
        region.emplace(format);
        Tensor y = x;
        for (int i = 0; i < 3; ++i)
          y = run(again, block, y);  // w six times: its gradients are added in their order
        const Tensor loss = mean(multiply(y, y));
        if (is_over) casts.push_back(region->casts_of_parameters()), region.reset();
        tape.backward(loss);
        if (!is_over) casts.push_back(region->casts_of_parameters());
        const std::vector<float> of_w = w.grad().to_floats();
        return std::vector{loss, x.grad(), bias.grad(), Tensor::from(w.shape(), of_w)};
      };
      INFO(name_of(format) << (is_over ? ", over" : ""));
      check_same(loss_of(false), loss_of(true));
      CHECK(casts == std::vector<std::int64_t>{3, 3});  // w, bias and x, which is a leaf here
      CHECK(cast_policy() == nullptr);
    }
  }
}

TEST_CASE("recompute: a region inside of the block, and exceptions around it") {
  const Tensor x = wanted({6, 8}, 1), w = wanted({8, 8}, 2);
  const Block block = [&](const Tensor& y) {
    const Tensor z = matmul(y, w);
    const Autocast inside(bf16);
    return matmul(matmul(z, w), w);
  };
  const auto loss_of = [&](bool again) {
    return seen({x, w}, [&] {
      const Autocast region(f16, {{"matmul", RunsIn::wide}});
      return mean(run(again, block, scale(x, 2)));
    });
  };
  check_same(loss_of(false), loss_of(true));
}

/// Two layers in FP8 which several blocks share.
struct Shared final : nn::Module {
  Tensor first = wanted({8, 8}, 2, f16), second = wanted({8, 8}, 3, f16);
  std::vector<nn::Parameter> parameters() const override {
    return {{"layer 1 weight", first}, {"layer 2 weight", second}};
  }
  std::string name() const override { return "shared"; }
  Tensor operator()(const Tensor& x) const { return matmul(relu(matmul(x, first)), second); }
};

std::vector<Recipe> eight_bit_recipes() {
  Recipe random{.compute = f16, .eight_bits = {.forward = e4m3, .backward = e5m2, .gradient = e5m2}};
  random.rounding = {.weights = Rounding::stochastic,
                     .activations = Rounding::stochastic,
                     .errors = Rounding::stochastic,
                     .gradients = Rounding::stochastic};
  Recipe delayed = random, current = random;
  delayed.eight_bits.scaling = TensorScaling::delayed;
  delayed.eight_bits.history = 2;
  current.eight_bits.scaling = TensorScaling::current;
  return {random, delayed, current};
}

TEST_CASE("recompute: products in FP8 have the random words and scales of the first run, which count once") {
  const Tensor x = wanted({6, 8}, 1, f16);
  const Shared model;
  for (const Recipe& recipe : eight_bit_recipes()) {
    for (const bool is_over : {true, false}) {
      INFO(describe(recipe) << (is_over ? ", the region ends before backward" : ""));
      const auto steps = [&](bool again) {
        std::vector<Tensor> all;
        const Float8Products products(model, recipe, 5);
        for (int step = 0; step < 4; ++step) {
          for (const Tensor& leaf : {x, model.first, model.second}) leaf.clear_grad();
          products.begin_step();
          Tape tape;
          std::optional<Float8Products::Region> region;
          region.emplace(products);
          Tensor y = scale(x, static_cast<float>(step + 1));
          for (int i = 0; i < 3; ++i) y = run(again, model, y);
          const Tensor loss = mean(y);
          if (is_over) region.reset();
          tape.backward(loss);
          all.insert(all.end(), {loss, x.grad(), model.first.grad(), model.second.grad()});
          region.reset();
          products.end_step();
          for (const Float8Products::Scale& s : products.scales())
            all.push_back(Tensor::from({2}, std::vector<float>{s.scale, s.amax}));
        }
        return all;
      };
      check_same(steps(false), steps(true));
    }
  }
}

/// Writes down what it is shown.
class Notes final : public Observer {
 public:
  void forward(const Op& op, const std::vector<Tensor>&, const Tensor& y) override {
    add(forwards, op.name, y);
  }
  void backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor&, const Tensor& dy,
                const std::vector<Tensor>&) override {
    if (!inputs.empty()) add(backwards, op, dy);
  }
  void narrowed(const Narrowed& t) override { add(narrows, name_of(t.kind), t.after); }
  void begin_again(const std::vector<Tensor>&) override { ++segments; }
  void again(const Op& op, const std::vector<Tensor>&, const Tensor& y) override { add(agains, op.name, y); }

  using List = std::vector<std::pair<std::string, std::vector<float>>>;
  List forwards, backwards, narrows, agains;
  int segments = 0;

 private:
  static void add(List& list, const std::string& name, const Tensor& x) {
    list.emplace_back(name, x.to_floats());
  }
};

TEST_CASE("recompute: an observer sees each op forwards once, and backwards what there is on a plain tape") {
  const Tensor x = wanted({6, 8}, 1, f16);
  const Shared model;
  const nn::BatchNorm norm(8, {.compute = f16});
  const Float8Products products(model, {.compute = f16, .eight_bits = {.forward = e4m3, .backward = e5m2}});
  const auto notes_of = [&](bool again) {
    Notes notes;
    const Float8Products::Region region(products);
    Tape tape(&notes);
    Tensor y = scale(x, 1);
    for (int i = 0; i < 2; ++i)
      y = run(
          again, [&](const Tensor& t) { return norm(model(t)); }, y);
    tape.backward(mean(y));
    return notes;
  };
  const Notes plain = notes_of(false), recomputed = notes_of(true);
  CHECK(plain.forwards == recomputed.forwards);
  CHECK(plain.backwards == recomputed.backwards);
  CHECK(plain.narrows == recomputed.narrows);
  CHECK(plain.agains.empty());
  CHECK(recomputed.segments == 2);
  REQUIRE(recomputed.agains.size() ==
          12);  // matmul, relu, matmul, mean, variance, batch_norm, of the last block first
  const auto& all = recomputed.forwards;
  CHECK(std::equal(all.begin() + 7, all.begin() + 13, recomputed.agains.begin()));
  CHECK(std::equal(all.begin() + 1, all.begin() + 7, recomputed.agains.begin() + 6));
}

TEST_CASE("recompute: a tracer finds a gradient that overflows at the same place") {
  const Tensor x = wanted({2, 2}, 1, f16), w = wanted({2, 2}, 2, f16);
  const Block layer = [&](const Tensor& t) { return relu(matmul(t, w)); };
  const Block bad = [](const Tensor& t) { return scale(scale(scale(t, 0x1p-10f), 1024), 512); };
  const Block both = [&](const Tensor& t) { return bad(layer(t)); };
  const std::vector<std::pair<const char*, std::vector<Block>>> models{
      {"before the first layer", {bad, layer}}, {"after layer 3", {layer, bad}}, {"after layer 3", {both}}};
  for (const auto& [where, blocks] : models) {
    INFO(where);
    for (const bool again : {false, true}) {
      NonfiniteTracer tracer([&](const Tensor& t) { return t.id() == w.id() ? "layer 3 weight" : ""; });
      for (const Tensor& leaf : {x, w}) leaf.clear_grad();
      Tape tape(&tracer);
      Tensor y = x;
      for (const Block& block : blocks) y = run(again, block, y);
      tape.backward(sum(y));
      REQUIRE(tracer.first().has_value());
      CHECK(tracer.first()->op == "scale");
      CHECK(tracer.first()->where == where);
      CHECK(tracer.first()->origin == BadTensor::Origin::backward);
    }
  }
}

TEST_CASE("recompute: the tape keeps the inputs of blocks, and the activations of one block at a time") {
  constexpr std::int64_t n = 1000, blocks = 6, bytes = 4 * n;
  const Tensor x = wanted({n}, 1);
  const Block block = [](const Tensor& y) { return relu(scale(relu(scale(y, 2)), 3)); };
  const auto kept = [&](bool again) {
    x.clear_grad();
    const auto account = std::make_shared<MemoryAccount>();
    const MemoryRegion counted(account);
    Tape tape;
    const Tensor loss = [&] {
      Tensor y = x;
      for (int i = 0; i < blocks; ++i) y = run(again, block, y);
      return sum(y);
    }();
    const std::int64_t forward = account->now(MemoryKind::activations);
    CHECK(account->peak(MemoryKind::activations) == forward);  // what a first run makes is none of them
    tape.backward(loss);
    return std::vector{forward, account->peak(MemoryKind::activations),
                       account->now(MemoryKind::activations)};
  };
  CHECK(kept(false) == std::vector<std::int64_t>{4 * blocks * bytes + 4, 4 * blocks * bytes + 4, 4});
  // The output of the last block is gone before it runs again.
  CHECK(kept(true) == std::vector<std::int64_t>{blocks * bytes + 4, (blocks - 1 + 4) * bytes + 4, 4});
}

TEST_CASE("recompute: a loss inside of a block begins with the seed of the tape") {
  const Tensor x = wanted({4, 3}, 1), seed = Tensor::from({}, std::vector<float>{1024});
  const std::vector<std::int32_t> labels{0, 2, 1, 1};
  const auto gradient = [&](bool again) {
    x.clear_grad();
    Tape tape(nullptr, seed);
    tape.backward(run(
        again, [&](const Tensor& y) { return cross_entropy(relu(y), labels); }, x));
    return std::vector{x.grad()};
  };
  check_same(gradient(false), gradient(true));
}

}  // namespace
}  // namespace tinymp::test
