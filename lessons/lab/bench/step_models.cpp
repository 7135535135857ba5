#include <lessons/lab/bench/step_models.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/ops/ops.h>
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

std::unique_ptr<nn::Model> mlp(const StepModel&, const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 128, 10}, recipe, rng);
}
std::unique_ptr<nn::Model> wide_mlp(const StepModel&, const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 4096, 4096, 10}, recipe, rng);
}
std::unique_ptr<nn::Model> autoencoder(const StepModel&, const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::Autoencoder>(std::vector<std::int64_t>{784, 64, 32, 64, 784}, recipe, rng);
}

std::unique_ptr<nn::Model> lenet(const StepModel&, const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::LeNet>(recipe, rng);
}
std::unique_ptr<nn::Model> resnet20(const StepModel&, const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::ResNet>(3, nn::ResNet::Images{.size = 32, .channels = 3}, recipe, rng);
}
std::unique_ptr<nn::Model> batch_norm_mlp(const StepModel&, const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::BatchNormMlp>(std::vector<std::int64_t>{784, 128, 10}, recipe, rng);
}
std::unique_ptr<nn::Model> residual_mlp(const StepModel&, const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::ResidualMlp>(64, 4, recipe, rng);
}
std::unique_ptr<nn::Model> lstm(const StepModel& model, const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::LanguageModel>(model.words, model.width, recipe, rng);
}
std::unique_ptr<nn::Model> decoder(const StepModel& model, const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::Transformer>(
      nn::Transformer::Kind::decoder,
      nn::TransformerSizes{
          .words = model.words, .context = model.values, .layers = 4, .width = model.width, .heads = 8},
      recipe, rng);
}

constexpr std::array models = {
    StepModel{"mlp", "MLP 784-128-10", 64, 784, Task::classify, mlp, sgd},
    StepModel{"autoencoder", "autoencoder 784-64-32-64-784", 1024, 784, Task::reconstruct, autoencoder, adam},
    StepModel{"lenet", "LeNet-5", 64, 28 * 28, Task::classify, lenet, sgd},
    StepModel{"resnet20", "ResNet-20, 32x32x3", 128, 32 * 32 * 3, Task::classify, resnet20, sgd},
};

constexpr std::array gpu_models = {
    StepModel{"wide", "MLP 784-4096-4096-10", 2048, 784, Task::classify, wide_mlp, sgd},
    StepModel{"words", "LSTM of 8192 words, 32 wide", 512, 16, Task::classify, lstm, adam, 8192, 32},
    StepModel{"decoder", "decoder of 4096 words, 4 layers of 256", 32, 128, Task::classify, decoder, adam,
              4096, 256},
    StepModel{"batchnorm", "batch norm MLP 784-128-10", 64, 784, Task::classify, batch_norm_mlp, sgd},
    StepModel{"residual", "residual MLP, 4 blocks of 64", 64, 784, Task::classify, residual_mlp, adam},
};

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

std::unique_ptr<nn::Model> made(const StepModel& model, const Recipe& recipe, Device device) {
  Rng rng(0);
  std::unique_ptr<nn::Model> made = model.model(model, recipe, rng);
  nn::move_to(*made, device);
  return made;
}

}  // namespace

std::span<const StepModel> step_models() { return models; }
std::span<const StepModel> gpu_step_models() { return gpu_models; }
std::span<const StepRecipe> step_recipes() { return recipes; }

/// Makes 16 batches that take turns. A model learns a single batch by heart. Units that this batch then never
/// wakes again leave subnormal numbers in their momentum, and processors are slow with those.
std::vector<Training::Shown> Training::batches_of(const StepModel& model, Device device) {
  Rng rng(1);
  std::vector<Shown> batches;
  const std::int64_t values = model.words > 0 ? 1 : model.values;
  const std::int64_t labels = model.words > 0 ? model.batch * model.values : model.batch;
  for (int k = 0; k < 16; ++k) {
    data::Batch batch{Tensor({model.batch, values}), {}};
    for (std::int64_t i = 0; i < batch.images.size(); ++i) batch.images.data<float>()[i] = rng.uniform(0, 1);
    const auto word = [&] {
      return static_cast<std::int32_t>(rng.below(static_cast<std::uint64_t>(model.words)));
    };
    std::vector<std::int32_t> text;
    for (std::int64_t i = 0; i < labels; ++i) {
      if (model.words > 0) text.push_back(word());
      batch.labels.push_back(model.words > 0 ? word() : static_cast<std::int32_t>(i % 10));
    }
    batch.there = Indices(batch.labels, device);
    batches.push_back({data::to(std::move(batch), device), {}});
    if (model.words > 0) batches.back().words = Indices(text, device);
  }
  return batches;
}

Training::Training(const StepModel& model, const Recipe& recipe, Device device)
    : task_(model.task),
      length_(model.words > 0 ? model.values : 0),
      device_(device),
      model_(made(model, recipe, device)),
      optimizer_(model.optimizer(tensors(model_->parameters()), recipe)),
      scaler_(recipe.scaling),
      products_(*model_, recipe),
      batches_(batches_of(model, device)),
      shown_{{Tensor::like(batches_[0].batch.images), {}, Indices(batches_[0].batch.labels, device)}, {}},
      records_(device, StepRecords()) {
  if (model.words == 0) return;
  const auto any_words = [&] {
    return Indices(model.batch * model.values, 0, static_cast<std::int32_t>(model.words - 1), device);
  };
  shown_.words = any_words();
  shown_.batch.there = any_words();
}

void Training::step() { step_on(batches_[taken_++ % batches_.size()]); }

Tensor Training::loss_of(const Shown& shown) const {
  if (!shown.words) return train::loss_of(task_, *model_, shown.batch);
  return resident::cross_entropy(model_->read({.tokens = *shown.words, .steps = length_}),
                                 *shown.batch.there);
}

/// As train::start_step() takes it, without its meters.
void Training::step_on(const Shown& shown) {
  Tensor loss;
  {
    products_.begin_step();
    const Float8Products::Region in_eight_bits(products_);
    Tape tape(nullptr, scaler_.seed(device_));
    loss = loss_of(shown);
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

void Training::show(const Shown& next) {
  const auto copy = [&](const Indices& from, const Indices& to) {
    const std::span<std::int32_t> there = to.written();
    allocator(device_).copy_within(there.data(), from.view().data(), there.size_bytes());
  };
  copy(*next.batch.there, *shown_.batch.there);
  if (next.words) {
    copy(*next.words, *shown_.words);
  } else {
    cast(next.batch.images.view(), shown_.batch.images.view());
  }
}

void Training::record() {
  const PrivatePool::Region region(pool_);
  show(batches_[0]);
  const auto step = [this] { step_on(shown_); };
  step(), step();  // take the memory that the graph keeps
  graph_.emplace(step);
}

void Training::graph_step() {
  expect(graph_.has_value(), "Training::graph_step: no graph was recorded");
  show(batches_[taken_++ % batches_.size()]);
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

double Training::loss() { return loss_of(batches_[0]).item(); }

}  // namespace tinymp::kernels::bench
