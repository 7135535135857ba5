#include <tests/cuda/device.h>
#include <tests/cuda/near.h>
#include <tests/kernels/rig.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/ops/ops.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/tensor/storage.h>
#include <functional>

/// Training steps of convolutional models on Device::cuda, beside the same steps on the CPU.
namespace tinymp::test {
namespace {

using ModelMaker = std::function<std::unique_ptr<nn::Model>(const Recipe&, Rng&)>;

/// The losses and, at the end, the weights and running averages of three steps. The second is
/// skipped where the loss is scaled: its images are too large for FP16.
std::vector<Tensor> steps(Device device, const ModelMaker& make, const Recipe& recipe, std::int64_t pixels) {
  Rng rng(11);
  const std::unique_ptr<nn::Model> model = make(recipe, rng);
  nn::move_to(*model, device);
  Sgd optimizer(tensors(model->parameters()), {.lr = 0.05f, .momentum = 0.9f}, recipe);
  LossScaler scaler(recipe.scaling);
  std::vector<Tensor> seen;
  for (std::uint64_t step = 0; step < 3; ++step) {
    const float largest = step == 1 && recipe != recipes::fp32 ? 1e30f : 1;
    const Tensor images = drawn({9, pixels}, DType::f32, step, largest).to(device);
    {
      const Autocast region(recipe);
      Tape tape;
      const Tensor loss =
          cross_entropy((*model)(images), std::vector<std::int32_t>{3, 1, 4, 1, 5, 9, 2, 6, 5});
      tape.backward(scaler.scale(loss));
      seen.push_back(loss.to(Device::cpu));
    }
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
  seen.push_back(optimizer.weights().to(Device::cpu));
  for (const Tensor& b : model->buffers()) seen.push_back(b.to(Device::cpu));
  return seen;
}

void check_steps(const ModelMaker& make, std::int64_t pixels) {
  for (Recipe recipe : {recipes::fp32, recipes::fp16_dynamic, recipes::o1, recipes::o2}) {
    if (recipe != recipes::fp32) recipe.scaling = DynamicScaling{.initial = 1024};
    const std::vector<Tensor> there = steps(Device::cuda, make, recipe, pixels),
                              here = steps(Device::cpu, make, recipe, pixels);
    REQUIRE(there.size() == here.size());
    for (std::size_t i = 0; i < here.size(); ++i) {
      INFO(describe(recipe) << ", tensor " << i);
      if (adds_as_cpu())
        CHECK(bits_equal(there[i], here[i]));
      else
        check_near(there[i], here[i], 2e-2);
    }
  }
}

TEST_CASE("BatchNormMlp: steps are those of the CPU") {
  NEEDS_CUDA();
  const std::vector<std::int64_t> widths{30, 12, 12, 10};
  check_steps([&](const Recipe& r, Rng& rng) { return std::make_unique<nn::BatchNormMlp>(widths, r, rng); },
              30);
}

TEST_CASE("LeNet: steps are those of the CPU") {
  NEEDS_CUDA();
  check_steps([](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); }, 784);
}

TEST_CASE("ResNet: steps are those of the CPU") {
  NEEDS_CUDA();
  check_steps(
      [](const Recipe& r, Rng& rng) {
        return std::make_unique<nn::ResNet>(1, nn::ResNet::Images{.size = 6, .channels = 3}, r, rng);
      },
      108);
}

TEST_CASE("convolutional models: in the long run a step asks for no memory") {
  NEEDS_CUDA();
  const int usual = threads();
  set_threads(1);  // how many work at once, and want memory, is up to the system
  for (const Device device : {Device::cpu, Device::cuda}) {
    Rng rng(1);
    const nn::ResNet model(1, {.size = 6}, recipes::fp16_master, rng);
    nn::move_to(model, device);
    const Tensor images = drawn({2, 36}, DType::f32, 1, 1).to(device);
    const auto step = [&] {
      Tape tape;
      tape.backward(cross_entropy(model(images), std::vector<std::int32_t>{3, 1}));
      for (const Tensor& p : tensors(model.parameters())) p.clear_grad();
    };
    for (int i = 0; i < 3; ++i) step();
    const std::size_t blocks = pool_statistics().from_system;
    for (int i = 0; i < 3; ++i) step();
    CHECK(pool_statistics().from_system == blocks);
  }
  set_threads(usual);
}

}  // namespace
}  // namespace tinymp::test
