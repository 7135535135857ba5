#include <tinymp/amp/autocast.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/ops/ops.h>
#include <tinymp/optim/optimizers.h>
#include <thread>

/// Regions, and the copies of parameters that they keep.
namespace tinymp::test {
namespace {

using enum DType;
using Floats = std::vector<float>;

Tensor filled(Shape shape, float value, DType dtype = f32) {
  return Tensor::from(shape, Floats(static_cast<std::size_t>(shape.size()), value), dtype);
}
Tensor parameter(Shape shape, float value, DType dtype = f32) {
  return filled(shape, value, dtype).set_requires_grad(true);
}

TEST_CASE("autocast: a region ends with its block, the innermost counts, and f32 switches it off") {
  const Tensor x = filled({2, 3}, 1), w = filled({3, 4}, 1);
  CHECK(matmul(x, w).dtype() == f32);
  {
    const Autocast region(f16);
    CHECK(matmul(x, w).dtype() == f16);
    {
      const Autocast inner(bf16);
      CHECK(matmul(x, w).dtype() == bf16);
      {
        const Autocast off(f32);
        CHECK(matmul(x, w).dtype() == f32);
        CHECK_SAYS("matmul: f16(2, 3) meets f32(3, 4); cast() one", matmul(cast(x, f16), w));
        CHECK(sum(cast(x, f16)).dtype() == f32);
        const Autocast again(f16);
        CHECK(matmul(x, w).dtype() == f16);
      }
      CHECK(matmul(x, w).dtype() == bf16);
      CHECK(matmul(cast(x, f16), w).dtype() == bf16);
    }
    CHECK(matmul(x, w).dtype() == f16);
    try {
      const Autocast inner(bf16);
      throw 1;
    } catch (int) {
    }
    CHECK(matmul(x, w).dtype() == f16);
  }
  CHECK(matmul(x, w).dtype() == f32);
  CHECK(cast_policy() == nullptr);
  CHECK_SAYS("Autocast: the format is f64; choose f16 or bf16", Autocast(f64));
}

TEST_CASE("autocast: a region is one thread's") {
  const Tensor x = filled({2, 2}, 1);
  const Autocast region(f16);
  DType elsewhere = f64;
  std::thread([&] { elsewhere = matmul(x, x).dtype(); }).join();
  CHECK(elsewhere == f32);
  CHECK(matmul(x, x).dtype() == f16);
}

TEST_CASE("autocast: f64 is never cast, and f16 meets bf16 in f32") {
  const Autocast region(f16);
  const Tensor x = filled({2, 2}, 0.1f, f64);
  CHECK(matmul(x, x).dtype() == f64);
  CHECK(sum(x).dtype() == f64);
  CHECK_SAYS("add: f64(2, 2) meets f16(2, 2)", add(x, filled({2, 2}, 1, f16)));
  CHECK(add(filled({2}, 1, f16), filled({2}, 1, bf16)).dtype() == f32);
  CHECK(add(filled({2}, 1, f16), filled({2}, 1)).to_floats() == Floats{2, 2});
}

TEST_CASE("autocast: a recipe opens the region that it names") {
  const Tensor x = filled({2, 2}, 1);
  {
    const Autocast region(recipes::o1);
    CHECK(matmul(x, x).dtype() == f16);
    const Autocast inner(recipes::fp32);
    CHECK(matmul(x, x).dtype() == f32);
  }
  CHECK(matmul(x, x).dtype() == f32);
}

TEST_CASE("autocast: exceptions stand above the lists, for one region") {
  const Tensor x = filled({2, 2}, 1, f16);
  {
    const Autocast region(f16, {{"sigmoid", RunsIn::wide}, {"add", RunsIn::narrow}});
    CHECK(sigmoid(x).dtype() == f32);
    CHECK(tanh(x).dtype() == f16);
    CHECK(add(filled({2}, 1), filled({2}, 1)).dtype() == f16);
  }
  const Autocast region(f16);
  CHECK(sigmoid(x).dtype() == f16);
  CHECK_SAYS("an exception for \"sigmoyd\", which is no op", Autocast(f16, {{"sigmoyd", RunsIn::wide}}));
  CHECK_SAYS("softsign: is on no list of autocast; give it a rule in amp/autocast_lists.cpp",
             recast("softsign", x));
}

/// How often the parameter itself went into an op named cast.
class CastsOf final : public Observer {
 public:
  explicit CastsOf(const Tensor& parameter) : id_(parameter.id()) {}
  void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor&) override {
    count += op.name == "cast" && inputs[0].id() == id_;
  }
  int count = 0;

 private:
  const void* id_;
};

TEST_CASE("autocast: a weight that is used three times is cast once a step, and anew after the step") {
  const Tensor w = parameter({2, 2}, 0.25f), x = filled({1, 2}, 1);
  Sgd optimizer({w}, {.lr = 0.5f});
  LossScaler scaler(NoScaling{});
  const Autocast region(f16);
  float weight = 0.25f;
  for (int step = 1; step <= 2; ++step) {  // 0.25, 0.0625: FP16 holds all that comes of them
    CastsOf casts(w);
    {
      Tape tape(&casts);
      const Tensor y = matmul(matmul(matmul(x, w), w), w);  // all alike: each product is times 2 w
      CHECK(y.to_floats() == Floats(2, 8 * weight * weight * weight));
      tape.backward(mean(y));
    }
    CHECK(casts.count == 1);
    CHECK(region.casts_of_parameters() == step);
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
    // d/dw of 8 w^3 is 24 w^2, shared out among the four weights.
    weight -= 0.5f * 6 * weight * weight;
    CHECK(w.to_floats()[0] == weight);
  }
}

TEST_CASE("autocast: gradients of several uses are added up in FP32, and come back through one cast") {
  const Tensor w = parameter({1, 1}, 1);
  const auto gradient = [&](bool by_hand) {
    w.clear_grad();
    Tape tape;
    const Tensor used = by_hand ? cast(w, f16) : w;
    Tensor total = matmul(filled({1, 1}, 1), used);
    for (const float x : {1.0f, 2048.0f}) total = add(total, matmul(filled({1, 1}, x), used));
    tape.backward(sum(total));  // begins with 2048
    CHECK(w.grad().dtype() == f32);
    return w.grad().item();
  };
  const Autocast region(f16);
  CHECK(gradient(false) == 2050);
  CHECK(gradient(true) == 2048);  // in FP16, 2048 + 1 is 2048
}

TEST_CASE("autocast: a copy is good under one tape, and with the next, and with none, it is made anew") {
  const Tensor w = parameter({1, 1}, 3), x = filled({1, 1}, 5);
  const Autocast region(f16);
  CHECK(matmul(x, w).item() == 15);
  CHECK(matmul(x, w).item() == 15);
  CHECK(region.casts_of_parameters() == 1);
  for (int batch = 1; batch <= 2; ++batch) {  // micro-batches: no step between them
    Tape tape;
    tape.backward(sum(matmul(x, w)));
    REQUIRE(w.grad());
    CHECK(w.grad().item() == 5 * batch);
    CHECK(region.casts_of_parameters() == 1 + batch);
  }
  Tape outer;
  const Tensor y = matmul(x, w);
  {
    Tape inner;
    inner.backward(sum(matmul(x, w)));
  }
  outer.backward(sum(add(y, matmul(x, w))));
  CHECK(w.grad().item() == 25);
}

TEST_CASE(
    "autocast: without a tape, too, a copy is good until an optimizer gives its parameter other values") {
  const Tensor w = parameter({1, 1}, 3), x = filled({1, 1}, 5);
  Sgd sgd({w}, {.lr = 0.25f});
  const Optimizer::State before = sgd.state();
  {
    Tape tape;
    tape.backward(sum(scale(matmul(x, w), 0.8f)));  // d/dw is 4
  }
  LossScaler scaler(NoScaling{});
  const Autocast region(f16);
  CHECK(matmul(x, w).item() == 15);
  Gradients gradients = sgd.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  sgd.step(gradients, check);
  CHECK(matmul(x, w).item() == 10);
  sgd.restore(before);
  CHECK(matmul(x, w).item() == 15);
  CHECK(region.casts_of_parameters() == 3);
}

TEST_CASE("autocast: regions of one format share their copies, others have their own") {
  const Tensor w = parameter({2, 2}, 1), x = filled({2, 2}, 1);
  Tape tape;
  const Autocast region(f16);
  matmul(x, w);
  {
    const Autocast inner(f16);
    matmul(x, w);
    CHECK(inner.casts_of_parameters() == 1);
    const Autocast other(bf16);
    matmul(x, w);
    CHECK(other.casts_of_parameters() == 1);
  }
  matmul(x, w);
  CHECK(region.casts_of_parameters() == 1);
  const Tensor narrow = parameter({2, 2}, 1, f16);
  matmul(x, narrow);
  matmul(cast(x, f16), filled({2, 2}, 1));  // no parameter
  CHECK(region.casts_of_parameters() == 1);
}

TEST_CASE("autocast: a loss gives the same bits with the cast and without") {
  const Tensor logits = Tensor::from({2, 3}, Floats{1.5f, -30, 8.25f, 0.1f, 0.2f, 300}, f16);
  const std::vector<std::int32_t> labels{1, 0};
  const auto run = [&](bool autocasts) {
    const Autocast region(autocasts ? f16 : f32);
    logits.clear_grad();
    Tape tape;
    const Tensor loss = cross_entropy(logits, labels);
    tape.backward(scale(loss, 1024));
    Floats found = logits.grad().to_floats();
    found.push_back(static_cast<float>(loss.item()));
    CHECK(tape.size() == 0);
    return found;
  };
  logits.set_requires_grad(true);
  CHECK(run(true) == run(false));
}

TEST_CASE("autocast: matmul, add_bias and relu have the bits of linear") {
  const Tensor x = Tensor::from({2, 2}, Floats{0.1f, 0.7f, -0.3f, 0.9f});
  const Tensor w = Tensor::from({2, 2}, Floats{0.3f, -0.2f, 0.6f, 0.5f}).set_requires_grad(true);
  const Tensor bias = Tensor::from({2}, Floats{0.01f, -0.07f}).set_requires_grad(true);
  const auto gradients = [&](auto layer) {
    const Autocast region(f16);
    w.clear_grad();
    bias.clear_grad();
    Tape tape;
    const Tensor y = layer();
    CHECK(y.dtype() == f16);
    tape.backward(sum(y));
    Floats found = y.to_floats();
    for (const Tensor& p : {w, bias})
      for (const float g : p.grad().to_floats()) found.push_back(g);
    return found;
  };
  const Floats fused = gradients([&] { return linear(x, w, bias, {.activation = Activation::relu}); });
  CHECK(fused == gradients([&] { return relu(add_bias(matmul(x, w), bias)); }));
}

}  // namespace
}  // namespace tinymp::test
