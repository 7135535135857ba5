#include <kernels/kernels.h>
#include <tinymp/nn/averages.h>
#include <tinymp/tensor/device_value.h>

namespace tinymp::nn {
namespace {

constexpr double momentum = 0.1;  // the weight of the newest batch in the averages; PyTorch's default

thread_local HeldMoves* held = nullptr;

}  // namespace

void AveragesMove::stage() const {
  const OnStep move = [m = mean, v = variance, b = batch,
                       of = of_population](Cell<const kernels::StepOutcome> step) {
    kernels::follow(b.mean.view(), 1, momentum, step, m.view());
    kernels::follow(b.variance.view(), of, momentum, step, v.view());
  };
  if (gamma.bound_grad()) return gamma.on_step(move);
  const DeviceValue<kernels::StepOutcome> taken(gamma.device(), {.taken = true, .updates = {}});
  move(taken.cell());
}

void move_averages(AveragesMove move) {
  if (held == nullptr) return move.stage();
  held->moves_.push_back(std::move(move));
}

HeldMoves::HeldMoves() {
  expect(held == nullptr, "HeldMoves: another one holds the moves of this thread");
  held = this;
}

HeldMoves::~HeldMoves() { held = nullptr; }

}  // namespace tinymp::nn
