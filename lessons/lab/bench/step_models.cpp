#include <lessons/lab/bench/step_models.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/optim/optimizers.h>
#include <array>
#include <limits>

namespace tinymp::kernels::bench {
namespace {

using train::Task;

std::unique_ptr<Optimizer> sgd(std::vector<Tensor> parameters, const Recipe& recipe) {
  return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = 0.01f, .momentum = 0.9f}, recipe);
}
std::unique_ptr<Optimizer> adam(std::vector<Tensor> parameters, const Recipe& recipe) {
  return std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = 1e-3f}, recipe);
}

std::unique_ptr<nn::Model> mlp(const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 128, 10}, recipe, rng);
}
std::unique_ptr<nn::Model> wide_mlp(const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 4096, 4096, 10}, recipe, rng);
}
std::unique_ptr<nn::Model> autoencoder(const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::Autoencoder>(std::vector<std::int64_t>{784, 64, 32, 64, 784}, recipe, rng);
}

std::unique_ptr<nn::Model> lenet(const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::LeNet>(recipe, rng);
}
std::unique_ptr<nn::Model> resnet20(const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::ResNet>(3, nn::ResNet::Images{.size = 32, .channels = 3}, recipe, rng);
}

constexpr std::array models = {
    StepModel{"mlp", "MLP 784-128-10", 64, 784, Task::classify, mlp, sgd},
    StepModel{"autoencoder", "autoencoder 784-64-32-64-784", 1024, 784, Task::reconstruct, autoencoder, adam},
    StepModel{"lenet", "LeNet-5", 64, 28 * 28, Task::classify, lenet, sgd},
    StepModel{"resnet20", "ResNet-20, 32x32x3", 128, 32 * 32 * 3, Task::classify, resnet20, sgd},
};

constexpr StepModel wide{"wide", "MLP 784-4096-4096-10", 2048, 784, Task::classify, wide_mlp, sgd};

/// The recipe fp8_e5m2, but all products are in FP8: those of the first and the last layer, too.
constexpr Recipe all_in_fp8(Rounding rounding) {
  Recipe recipe = tinymp::recipes::fp8_e5m2;
  recipe.eight_bits.exempt = {};
  recipe.rounding = {.weights = rounding, .activations = rounding, .errors = rounding, .gradients = rounding};
  return recipe;
}

constexpr std::array recipes = {
    StepRecipe{"f32", tinymp::recipes::fp32},
    StepRecipe{"f16", tinymp::recipes::fp16_dynamic},
    StepRecipe{"bf16", {.compute = DType::bf16, .gradient = DType::bf16}},
    StepRecipe{"fp8", all_in_fp8(Rounding::nearest_even)},
    StepRecipe{"fp8 sr", all_in_fp8(Rounding::stochastic)},
};

/// Makes 16 batches that take turns. A model learns a single batch by heart. Units that this batch then never
/// wakes again leave subnormal numbers in their momentum, and processors are slow with those.
std::vector<data::Batch> batches_of(const StepModel& model, Device device) {
  Rng rng(1);
  std::vector<data::Batch> batches;
  for (int k = 0; k < 16; ++k) {
    data::Batch batch{Tensor({model.batch, model.values}), {}};
    for (std::int64_t i = 0; i < batch.images.size(); ++i) batch.images.data<float>()[i] = rng.uniform(0, 1);
    for (std::int64_t i = 0; i < model.batch; ++i) batch.labels.push_back(static_cast<std::int32_t>(i % 10));
    batch.there = Indices(batch.labels, device);
    batches.push_back(data::to(std::move(batch), device));
  }
  return batches;
}

std::unique_ptr<nn::Model> made(const StepModel& model, const Recipe& recipe, Device device) {
  Rng rng(0);
  std::unique_ptr<nn::Model> made = model.model(recipe, rng);
  nn::move_to(*made, device);
  return made;
}

}  // namespace

std::span<const StepModel> step_models() { return models; }
const StepModel& wide_step_model() { return wide; }
std::span<const StepRecipe> step_recipes() { return recipes; }

Training::Training(const StepModel& model, const Recipe& recipe, Device device)
    : task_(model.task),
      device_(device),
      model_(made(model, recipe, device)),
      optimizer_(model.optimizer(tensors(model_->parameters()), recipe)),
      scaler_(recipe.scaling),
      products_(*model_, recipe),
      batches_(batches_of(model, device)),
      shown_{Tensor::like(batches_[0].images), {}, Indices(batches_[0].labels, device)},
      records_(device, StepRecords()) {}

void Training::step() { step_on(batches_[taken_++ % batches_.size()]); }

/// As train::start_step() takes it, without its meters.
void Training::step_on(const data::Batch& batch) {
  Tensor loss;
  {
    products_.begin_step();
    const Float8Products::Region in_eight_bits(products_);
    Tape tape(nullptr, scaler_.seed(device_));
    loss = train::loss_of(task_, *model_, batch);
    tape.backward(loss);
  }
  products_.end_step();
  Gradients gradients = optimizer_->gradients();
  // A GPU finds the norm in the same pass.
  constexpr float no_limit = std::numeric_limits<float>::infinity();
  UnscaleResult check =
      device_ == Device::cpu ? scaler_.unscale(gradients) : scaler_.unscale(gradients, no_limit);
  const DeviceValue<StepOutcome> outcome = optimizer_->step(gradients, check);
  scaler_.update(std::move(check), loss, outcome, records_);
  optimizer_->zero_grad();
}

void Training::record() {
  const PrivatePool::Region region(pool_);
  cast(batches_[0].images.view(), shown_.images.view());
  const auto step = [this] { step_on(shown_); };
  step(), step();  // take the memory that the graph keeps
  graph_.emplace(step);
}

void Training::graph_step() {
  expect(graph_.has_value(), "Training::graph_step: no graph was recorded");
  const data::Batch& batch = batches_[taken_++ % batches_.size()];
  cast(batch.images.view(), shown_.images.view());
  const std::span<std::int32_t> labels = shown_.there->written();
  allocator(device_).copy_within(labels.data(), batch.there->view().data(), labels.size_bytes());
  graph_->launch();
}

void Training::wait() const {
  char byte;
  allocator(device_).copy_out(&byte, optimizer_->weights().view().memory, 1);
}

std::int64_t Training::parameters() const {
  std::int64_t count = 0;
  for (const Tensor& parameter : tensors(model_->parameters())) count += parameter.size();
  return count;
}

double Training::loss() { return train::loss_of(task_, *model_, batches_[0]).item(); }

}  // namespace tinymp::kernels::bench
