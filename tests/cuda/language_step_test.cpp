#include <tests/cuda/device.h>
#include <tests/cuda/near.h>
#include <tests/kernels/rig.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/optim/optimizers.h>

/// Training steps of a language model on Device::cuda, beside the same steps on the CPU.
namespace tinymp::test {
namespace {

constexpr std::int64_t words = 50, width = 8, texts = 3, length = 4;

/// The losses and, at the end, the weights of a few steps.
std::vector<Tensor> steps(Device device, const Recipe& recipe) {
  Rng rng(11), text(12);
  const nn::LanguageModel model(words, width, recipe, rng);
  nn::move_to(model, device);
  Adam optimizer(tensors(model.parameters()), {.lr = 0.01f}, recipe);
  LossScaler scaler(recipe.scaling);
  std::vector<Tensor> seen;
  for (int step = 0; step < 3; ++step) {
    std::vector<std::int32_t> tokens, next;
    for (std::int64_t n = 0; n < texts * length; ++n) {
      tokens.push_back(static_cast<std::int32_t>(text.below(words)));
      next.push_back(static_cast<std::int32_t>(text.below(words)));
    }
    {
      Tape tape;
      const Tensor loss = cross_entropy(model(tokens, length), next);
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
  return seen;
}

TEST_CASE("LanguageModel: steps are those of the CPU") {
  NEEDS_CUDA();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_static}) {
    const std::vector<Tensor> there = steps(Device::cuda, recipe), here = steps(Device::cpu, recipe);
    for (std::size_t i = 0; i < here.size(); ++i) {
      INFO(describe(recipe) << ", tensor " << i);
      if (adds_as_cpu())
        CHECK(bits_equal(there[i], here[i]));
      else
        check_near(there[i], here[i], 2e-2);
    }
  }
}

}  // namespace
}  // namespace tinymp::test
