#include <fmt/format.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/base/memory_account.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/optim/optimizers.h>

namespace tinymp::lab {
namespace {

constexpr std::int64_t images = 64;

/// Counts the operands of products: the activations that an FP8 run needs again in backward.
class Operands final : public Observer {
 public:
  void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor&) override {
    if (op.name == "linear" || op.name == "matmul" || op.name == "conv2d") values_ += inputs[0].size();
  }
  std::int64_t values() const { return values_; }

 private:
  std::int64_t values_ = 0;
};

struct Bytes {
  double weights = 0, master = 0, gradients = 0, momentum = 0, activations = 0, operands = 0;
};

double bytes_of(const Tensor& x) {
  return static_cast<double>(x.size()) * static_cast<double>(size_of(x.dtype()));
}

Bytes measured(Lab& lab, const Recipe& recipe) {
  Rng rng(lab.options().first_seed);
  const data::ImageShape shape = lab.data().train.shape;
  const nn::ResNet model(3, {.size = shape.rows, .channels = shape.channels}, recipe, rng);
  const Sgd optimizer(nn::tensors(model.parameters()), {.momentum = 0.9f}, recipe);
  const Float8Products products(model, recipe);
  const data::Batch batch = data::Loader(lab.data().train, images, 0).next();
  Bytes found{.weights = bytes_of(optimizer.weights())};
  for (const nn::Parameter& p : model.parameters()) found.gradients += bytes_of(p.value.bound_grad());
  if (optimizer.master().id() != optimizer.weights().id()) found.master = bytes_of(optimizer.master());
  for (const Tensor& moment : optimizer.moments()) found.momentum += bytes_of(moment);
  const auto account = std::make_shared<MemoryAccount>();
  const MemoryRegion counted(account);
  products.begin_step();
  const Float8Products::Region region(products);
  Operands operands;
  Tape tape(&operands);
  const Tensor loss = cross_entropy(model(batch.images), batch.labels);
  found.activations = static_cast<double>(account->now(MemoryKind::activations));
  found.operands = static_cast<double>(operands.values());
  return found;
}

}  // namespace

void show_bytes(Lab& lab) {
  const Bytes f32 = measured(lab, recipes::fp32), f16 = measured(lab, recipes::fp16_dynamic),
              f8 = measured(lab, recipes::fp8_e5m2);
  lab.say(fmt::format("\nResNet-20, a step of {} images, million bytes", images));
  lab.say("                                  FP32      FP16  fp8_e5m2");
  const auto row = [&](const char* what, double Bytes::*part) {
    lab.say(fmt::format("  {:<28} {:>9.3f} {:>9.3f} {:>9.3f}", what, 1e-6 * f32.*part, 1e-6 * f16.*part,
                        1e-6 * f8.*part));
  };
  row("weights", &Bytes::weights);
  row("master weights", &Bytes::master);
  row("gradients", &Bytes::gradients);
  row("momentum", &Bytes::momentum);
  row("activations, measured", &Bytes::activations);
  const double of_f16 = 100 * f8.activations / f16.activations;
  lab.say(fmt::format("  operands of products: {:.3f} in FP16, {:.3f} in FP8", 2e-6 * f8.operands,
                      1e-6 * f8.operands));
  lab.number("fp8_e5m2: activations, % of FP16's", of_f16);
  lab.number("operands of products in FP8, % of FP16's activations", 100 * f8.operands / f16.activations);
}

}  // namespace tinymp::lab
