#include <tinymp/nn/module.h>
#include <tinymp/optim/optimizer.h>
#include <algorithm>
#include <cmath>

namespace tinymp {
namespace {

Device device_of(const char* name, const std::vector<Tensor>& parameters) {
  expect(!parameters.empty(), name, ": there are no parameters to train");
  for (const Tensor& p : parameters) {
    expect(p.device() == parameters.front().device(), name, ": parameters lie on ",
           parameters.front().device(), " and on ", p.device(), "; move the whole model to one device");
  }
  return parameters.front().device();
}

void expect_alike(const char* what, const Tensor& from, const Tensor& to) {
  expect(bool(from), "restore: there are no ", what, " in the state");
  expect(from.shape() == to.shape() && from.dtype() == to.dtype(), "restore: ", what, " is ", from.dtype(),
         from.shape(), " in the state and ", to.dtype(), to.shape(),
         " here; it was saved by another optimizer or recipe");
}

/// With products in FP8 the recipe's rounding is that of the FP8 weights, which amp/float8_products.h makes.
Rounding of_weights(const Recipe& recipe) {
  return recipe.eight_bits.any() ? Rounding::nearest_even : recipe.rounding.weights;
}

}  // namespace

Optimizer::Optimizer(const char* name, std::vector<Tensor> parameters, float lr, int moments,
                     const Recipe& recipe)
    : name_(name),
      parameters_(std::move(parameters)),
      rounding_{.masters = recipe.rounding.masters, .weights = of_weights(recipe), .kahan = recipe.kahan},
      step_(device_of(name, parameters_), {}) {
  set_learning_rate(lr);
  expect_roundings(recipe);
  for (const DType dtype : {recipe.compute, recipe.gradient, recipe.master, recipe.state}) {
    expect(dtype != DType::f64, name_,
           ": the recipe asks for f64, but updates are computed in FP32; f64 is for gradient checks");
  }
  std::int64_t total = 0;
  for (const Tensor& p : parameters_) {
    expect(p.dtype() == recipe.compute || (recipe.fp32_norm_parameters && p.dtype() == recipe.master), name_,
           ": a parameter is ", p.dtype(), " but the recipe computes in ", recipe.compute);
    expect(p.requires_grad(), name_, ": a parameter of shape ", p.shape(), " does not require a gradient");
    expect(!p.bound_grad(), name_, ": a parameter of shape ", p.shape(),
           " belongs to another optimizer already");
    const auto same = [&](const Tensor& q) { return q.id() == p.id(); };
    expect(std::ranges::count_if(parameters_, same) == 1, name_, ": a parameter of shape ", p.shape(),
           " is given twice");
    total += p.size();
  }

  // Allocate first: when memory runs out, the parameters are unchanged.
  const Device device = step_.device();
  weights_ = Tensor({total}, recipe.compute, device);
  gradients_ = std::make_shared<Gradients::Step>(
      Gradients::Step{.arena = Tensor({total}, recipe.gradient, device),
                      .factor = DeviceValue<float>(device, 1),
                      .counts = DeviceValue<kernels::PassCounts>(device, kernels::PassCounts())});
  master_ = recipe.master == recipe.compute ? weights_ : Tensor({total}, recipe.master, device);
  for (int m = 0; m < moments; ++m) moments_.emplace_back(Shape{total}, recipe.state, device);
  if (recipe.kahan) moments_.emplace_back(Shape{total}, recipe.master, device);
  for (const Tensor& moment : moments_) kernels::fill(moment.view(), 0);
  // Parameters are not padded to 128 bytes: a norm sums chunks of the arena in their order, so padding would move its bits.
  // Where one then begins at no multiple of 16 bytes, rung mma copies 4 bytes or 2 at a time instead, and stays the rung.
  std::int64_t offset = 0;
  for (const Tensor& p : parameters_) {
    kernels::cast(p.view(), master_.slice(offset, p.shape()).view());
    kernels::cast(p.view(), weights_.slice(offset, p.shape()).view());
    p.move_into(p.dtype() == recipe.compute ? weights_ : master_, offset);
    p.bind_grad(gradients_->arena.slice(offset, p.shape()));
    offset += p.size();
  }
}

Optimizer::~Optimizer() {
  for (const Tensor& p : parameters_) {
    p.unbind_grad();
    p.take_on_step();
  }
}

void Optimizer::set_learning_rate(float lr) {
  expect(std::isfinite(lr) && lr >= 0, name_, ": the learning rate is ", lr,
         "; it must be a finite number, 0 or above");
  learning_rate_ = lr;
  allocator(step_.device()).copy_in(&step_.cell().memory->lr, &lr, sizeof lr);  // steps is not overwritten
}

Gradients Optimizer::gradients(double micro_batches) {
  expect(std::isfinite(micro_batches) && micro_batches > 0, name_, ": gradients of ", micro_batches,
         " micro-batches; there must be some");
  bool any = false;
  for (const Tensor& p : parameters_) any = any || p.grad();
  expect(any, name_, ": there are no gradients; call Tape::backward() on a loss of these parameters first");
  for (const Tensor& p : parameters_) {
    if (p.grad()) continue;
    kernels::fill(p.bound_grad().view(), 0);
    p.set_grad(p.bound_grad());
  }
  if (gradients_->stage == Stage::scaled) gradients_->micro_batches = micro_batches;
  return Gradients(gradients_);
}

DeviceValue<kernels::StepOutcome> Optimizer::step(const Gradients& gradients, const UnscaleResult& check) {
  gradients.expect_current("step");
  expect(gradients.step_ == gradients_, name_, "::step: these are another optimizer's gradients");
  expect(gradients.unscaled(), name_,
         "::step: the gradients are still multiplied by the loss scale; call "
         "LossScaler::unscale() first");
  expect(check.step_ == gradients_, name_,
         "::step: this check is not of these gradients; pass the check that unscale() returned for these "
         "gradients");
  expect(gradients_->stage != Stage::stepped, name_,
         "::step: this step was taken already; call zero_grad() and backward() first");

  // The allocation may throw. The stage has not changed by then, so the caller may try the step again.
  const DeviceValue<kernels::StepOutcome> outcome(step_.device());
  gradients_->stage = Stage::stepped;
  kernels::take_step(rule(), arenas(), gradients_->factor.cell(), check.found_.cell(), check.skip_nonfinite_,
                     step_.cell(), outcome.cell(), gradients_->counts.cell());
  if (shards_) share_update(*outcome.cell().memory);
  for (const Tensor& p : parameters_) {
    for (const OnStep& then : p.take_on_step()) then(outcome.cell());
  }
  last_ = outcome;
  parameters_changed();
  return outcome;
}

std::vector<float> Optimizer::exact_updates(const Gradients& gradients, const Tensor& before) const {
  gradients.expect_current("exact_updates");
  expect(gradients.step_ == gradients_ && gradients_->stage == Stage::stepped, name_,
         "::exact_updates: no step was taken with these gradients");
  expect(last_->read().taken, name_, "::exact_updates: the step was skipped, and nothing was updated");
  expect(before.size() == weights_.size(), name_, "::exact_updates: ", before.shape(), " for a master of ",
         weights_.shape());
  const std::vector<float> g = gradients.tensor().to_floats(), w = before.to_floats();
  std::vector<std::vector<float>> moments;  // step() has moved them already; update() reads them as they are
  const std::vector<Tensor> kept = is_shared() ? state().moments : moments_;
  for (std::size_t k = 0; k < rule_moments(); ++k) moments.push_back(kept[k].to_floats());
  const float factor = gradients.factor();
  const kernels::StepState state = step_.read();
  std::vector<float> updates(w.size());
  std::visit(
      [&](const auto& r) {
        for (std::size_t i = 0; i < w.size(); ++i) {
          float m[2] = {};
          for (std::size_t k = 0; k < moments.size(); ++k) m[k] = moments[k][i];
          updates[i] = r.update(w[i], g[i] * factor, m, state);
        }
      },
      rule());
  return updates;
}

void Optimizer::zero_grad() {
  for (const Tensor& p : parameters_) {
    p.clear_grad();
    p.take_on_step();
  }
  const Stage end = gradients_->stage == Stage::stepped ? Stage::over : Stage::dropped;
  const auto next = std::make_shared<Gradients::Step>(Gradients::Step{.arena = gradients_->arena,
                                                                      .factor = gradients_->factor,
                                                                      .counts = gradients_->counts,
                                                                      .shards = shards_});
  gradients_->stage = end;
  gradients_ = next;
}

void Optimizer::restore(const State& state) {
  expect(!is_shared(),
         "restore: the state is whole, and this optimizer keeps a part; restore it before share()");
  expect(state.moments.size() == moments_.size(), "restore: ", state.moments.size(),
         " moments in the state and ", moments_.size(), " here; it was saved by another optimizer or recipe");
  expect(state.steps >= 0, "restore: the state has ", state.steps,
         " steps; pass a state that state() returned");
  // The whole state is checked before anything is copied: a refused state changes nothing.
  expect_alike("weights", state.weights, weights_);
  expect_alike("masters", state.master, master_);
  for (std::size_t m = 0; m < moments_.size(); ++m) expect_alike("moments", state.moments[m], moments_[m]);
  set_learning_rate(state.learning_rate);
  const auto copy = [](const Tensor& from, const Tensor& to) {
    kernels::cast(from.to(to.device()).view(), to.view());
  };
  copy(state.weights, weights_);
  copy(state.master, master_);
  for (std::size_t m = 0; m < moments_.size(); ++m) copy(state.moments[m], moments_[m]);
  parameters_changed();
  step_.write({.steps = state.steps, .lr = learning_rate_});
}

}  // namespace tinymp
