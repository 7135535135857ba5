#include <tests/base/sanitized.h>
#include <tests/catch.h>
#include <tests/train/rig.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/task.h>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {
constexpr std::size_t large = 4096;  // no handle, closure or list of a step is so large: it would be values
std::atomic<int> large_requests = 0;
}  // namespace

// A sanitizer has an operator new of its own, which should stay.
#if !TINYMP_SANITIZED
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  large_requests += bytes >= large;
  if (void* memory = std::malloc(bytes > 0 ? bytes : 1)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
#endif

/// One training step in mixed precision: which format each value has, and what that does; and its memory.
namespace tinymp::test {
namespace {

data::Batch made_up_batch(std::int64_t size = 16) {
  static const data::Split split = made_up_split();
  return data::InOrder(split.train, size)[0];
}

/// x itself; notes the format of the gradient that comes back.
Tensor probe(const Tensor& x, std::vector<DType>& seen) {
  const Tensor y = x.viewed_as(x.shape());
  return record("probe", {x}, y, [&seen](const Tensor& dy, const Needs&) {
    seen.push_back(dy.dtype());
    return std::vector{dy};
  });
}

TEST_CASE("in an FP16 recipe parameters, activations and gradients are f16, the loss is f32") {
  for (const Recipe& recipe :
       {recipes::fp16_weights, recipes::fp16_master, recipes::fp16_static, recipes::fp16_dynamic}) {
    Rng rng(1);
    const nn::Linear first(784, 12, recipe, rng), second(12, 10, recipe, rng);
    const std::vector<Tensor> parameters{first.weight, first.bias, second.weight, second.bias};
    const Sgd optimizer(parameters, {.lr = 0.1f}, recipe);
    const data::Batch batch = made_up_batch();
    CHECK(batch.images.dtype() == DType::f32);

    std::vector<DType> gradients, activations;
    Tape tape;
    const auto look = [&](const Tensor& x) {
      activations.push_back(x.dtype());
      return probe(x, gradients);
    };
    const Tensor x = cast(batch.images, recipe.compute);
    const Tensor logits = look(second(look(relu(look(first(x))))));
    const Tensor loss = cross_entropy(logits, batch.labels);
    CHECK(loss.dtype() == DType::f32);
    LossScaler scaler(recipe.scaling);
    const Tensor scaled = scaler.scale(loss);
    CHECK(scaled.dtype() == DType::f32);
    tape.backward(scaled);

    CHECK(activations == std::vector<DType>(3, DType::f16));
    CHECK(gradients == std::vector<DType>(3, DType::f16));
    for (const Tensor& p : parameters) {
      CHECK(p.dtype() == DType::f16);
      CHECK(p.grad().dtype() == recipe.gradient);
      CHECK(recipe.gradient == DType::f16);
    }
    CHECK_FALSE(static_cast<bool>(batch.images.grad()));
    CHECK(optimizer.weights().dtype() == DType::f16);
    CHECK(optimizer.master().dtype() == recipe.master);
  }
}

TEST_CASE("a recipe may keep its gradients in f32: then several passes add up there") {
  Recipe recipe = recipes::fp16_master;
  recipe.gradient = DType::f32;
  Rng rng(1);
  const nn::Mlp model({784, 10}, recipe, rng);
  Sgd optimizer(tensors(model.parameters()), {.lr = 0.1f}, recipe);
  const data::Batch batch = made_up_batch();
  std::vector<std::vector<float>> passes;
  for (int pass = 0; pass < 2; ++pass) {
    Tape tape;
    tape.backward(train::loss_of(train::Task::classify, model, batch));
    passes.push_back(model.parameters()[0].value.grad().to_floats());
  }
  CHECK(model.parameters()[0].value.grad().dtype() == DType::f32);
  for (std::size_t i = 0; i < passes[0].size(); ++i) REQUIRE(passes[1][i] == 2 * passes[0][i]);
}

TEST_CASE("small gradients vanish in FP16, and survive when the loss is scaled") {
  const auto zeros = [](const Recipe& recipe, float loss_scale) {
    Rng rng(1);
    const nn::Autoencoder model({784, 8, 784}, recipe, rng);
    const data::Batch batch = made_up_batch(64);
    Tape tape;
    const Tensor small = scale(train::loss_of(train::Task::reconstruct, model, batch), 0x1p-12f);
    tape.backward(scale(small, loss_scale));
    std::int64_t count = 0, size = 0;
    for (const Tensor& p : tensors(model.parameters())) {
      for (const float g : p.grad().to_floats()) count += g == 0;
      size += p.size();
    }
    return static_cast<double>(count) / static_cast<double>(size);
  };
  const double structural = zeros(recipes::fp32, 1);  // the black frame
  CHECK(structural > 0.1);
  CHECK(structural < 0.3);
  CHECK(zeros(recipes::fp16_master, 1) > structural + 0.3);
  CHECK(zeros(recipes::fp16_master, 0x1p14f) < structural + 0.01);
}

TEST_CASE("the gradient of a scaled loss is the scaled gradient, exactly, when nothing underflows") {
  const auto gradient = [](float scale_by) {
    Rng rng(1);
    const nn::Mlp model({784, 10}, recipes::fp32, rng);
    Tape tape;
    tape.backward(scale(train::loss_of(train::Task::classify, model, made_up_batch()), scale_by));
    return model.parameters()[0].value.grad().to_floats();
  };
  const std::vector<float> plain = gradient(1), scaled = gradient(65536);
  for (std::size_t i = 0; i < plain.size(); ++i) REQUIRE(scaled[i] == 65536 * plain[i]);
}

TEST_CASE("after a step the FP16 weights are the FP32 masters, rounded") {
  Rng rng(1);
  const nn::Mlp model({784, 12, 10}, recipes::fp16_dynamic, rng);
  Adam optimizer(tensors(model.parameters()), {.lr = 1e-3f}, recipes::fp16_dynamic);
  LossScaler scaler(NoScaling{});
  {
    Tape tape;
    tape.backward(scaler.scale(train::loss_of(train::Task::classify, model, made_up_batch())));
  }
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  CHECK(optimizer.step(gradients, check).read().taken);
  scaler.update(std::move(check));
  CHECK(optimizer.master().dtype() == DType::f32);
  const std::vector<float> master = optimizer.master().to_floats(), weights = optimizer.weights().to_floats();
  std::int64_t finer = 0;
  for (std::size_t i = 0; i < master.size(); ++i) {
    REQUIRE(weights[i] == static_cast<float>(half(master[i])));
    finer += weights[i] != master[i];
  }
  CHECK(finer > 1000);  // the master remembers what the weight does not
  std::vector<float> of_model;
  for (const Tensor& p : tensors(model.parameters())) {
    const std::vector<float> more = p.to_floats();
    of_model.insert(of_model.end(), more.begin(), more.end());
  }
  CHECK(of_model == weights);  // the model sees what the optimizer wrote
}

void check_steady_step(const nn::Model& model, const Recipe& recipe, const data::Batch& batch, int count) {
  Adam optimizer(tensors(model.parameters()), {.lr = 1e-3f}, recipe);
  LossScaler scaler(recipe.scaling);
  PoolStatistics before;
  int large_before = 0;
  const int steps = 20;
  for (int step = 1; step <= steps; ++step) {
    if (step == 4) before = pool_statistics(), large_before = large_requests;
    Tape tape;
    tape.backward(scaler.scale(train::loss_of(train::Task::classify, model, batch)));
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    static_cast<void>(clip_norm(gradients, 1));
    static_cast<void>(optimizer.step(gradients, check));
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
  const PoolStatistics after = pool_statistics();
  INFO(model.name() << ", " << describe(recipe) << ", " << count << " threads");
  // Each thread wants three blocks for its piece of a product; the first time that all do so at once may come
  // late. For convolutions and pools it wants so many that no step is sure to be the last.
  if (count == 1 || model.name() != "lenet")
    CHECK(after.from_system - before.from_system <= static_cast<std::size_t>(3 * (count - 1)));
  CHECK(large_requests == large_before);  // nobody goes past the pool
  CHECK(after.from_pool > before.from_pool + 8 * (steps - 3));
  CHECK(after.bytes_in_use == before.bytes_in_use);
}

TEST_CASE("a steady training step asks nothing of the system", "[repeats]") {
  const int usual = threads();
  const data::Batch batch = made_up_batch(96);
  const int requests = large_requests;
  ::operator delete(::operator new(large));  // a vector that nobody reads clang++ leaves out
  if (!sanitized) REQUIRE(large_requests == requests + 1);
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_weights, recipes::fp16_dynamic}) {
    for (const int count : {1, 3}) {
      set_threads(count);
      Rng rng(1);
      check_steady_step(nn::Mlp({784, 100, 10}, recipe, rng), recipe, batch, count);
      check_steady_step(nn::LeNet(recipe, rng), recipe, batch, count);
    }
  }
  set_threads(usual);
}

}  // namespace
}  // namespace tinymp::test
