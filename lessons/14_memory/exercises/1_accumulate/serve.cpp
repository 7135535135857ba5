#include <lessons/14_memory/exercises/1_accumulate/setting.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/accumulate.h>
#include <cmath>

namespace tinymp::exercise {
namespace {

/// A loss, and its gradient for w, rounded once.
Tensor loss_of(const Tensor& w, const MicroBatch& batch) {
  const Tensor loss = Tensor::from({}, std::vector<float>{batch.loss});
  return record("samples", {w}, loss, [w, g = batch.gradient](const Tensor& dy, const Needs&) {
    return std::vector{Tensor::from({1}, std::vector<float>{dy.to_floats()[0] * g}, w.dtype())};
  });
}

/// The rest of the step, as training takes it.
void finish(const Tensor& w, Sgd& optimizer, LossScaler& scaler, Answer& answer) {
  Gradients gradients = optimizer.gradients(answer.micro_batches);
  UnscaleResult check = scaler.unscale(gradients);
  answer.sum = w.grad().to_floats()[0];
  answer.gradient = answer.sum * gradients.factor();
  answer.nonfinite = check.finite() ? 0 : 1;
  answer.taken = optimizer.step(gradients, check).read().taken ? 1 : 0;
  scaler.update(std::move(check));
  optimizer.zero_grad();
  answer.weight = optimizer.master().to_floats()[0];
  answer.next_scale = scaler.factor();
}

std::int64_t seeds_not_on_meta(std::span<const std::int64_t> sizes, float scale) {
  LossScaler scaler(DynamicScaling{.initial = scale});
  std::int64_t elsewhere = 0;
  train::accumulate(sizes, Device::meta, scaler, [&](std::int64_t, const Tensor& seed) {
    elsewhere += !seed || seed.device() != Device::meta ? 1 : 0;
    return Tensor({}, DType::f32, Device::meta);
  });
  return elsewhere;
}

}  // namespace

void serve(Message& request, Message& reply) {
  const auto setting = request.take<Setting>();
  const auto batches = request.take_all<MicroBatch>();
  std::vector<std::int64_t> sizes;
  for (const MicroBatch& batch : batches) sizes.push_back(batch.size);
  if (setting.meta != 0) {
    reply.put(seeds_not_on_meta(sizes, setting.scale));
    return;
  }
  Recipe recipe = setting.half != 0 ? recipes::fp16_dynamic : recipes::fp32;
  recipe.gradient = recipe.compute;
  const Tensor w = Tensor::from({1}, std::vector<float>{1}, recipe.compute).set_requires_grad(true);
  Sgd optimizer({w}, {.lr = 1}, recipe);
  LossScaler scaler(DynamicScaling{.initial = setting.scale});
  std::vector<Call> calls;
  const train::Accumulated sum =
      train::accumulate(sizes, Device::cpu, scaler, [&](std::int64_t i, const Tensor& seed) {
        calls.push_back({i, seed ? seed.to_floats()[0] : 1});
        Tape tape(nullptr, seed);
        const Tensor loss = loss_of(w, batches.at(static_cast<std::size_t>(i)));
        tape.backward(loss);
        return loss;
      });
  Answer answer{.micro_batches = sum.micro_batches,
                .has_loss = sum.loss ? 1 : 0,
                .loss_is_f32 = sum.loss && sum.loss.dtype() == DType::f32 ? 1 : 0,
                .loss = sum.loss ? sum.loss.to_floats()[0] : 0,
                .has_step = w.grad() && std::isfinite(sum.micro_batches) && sum.micro_batches > 0 ? 1 : 0,
                .sum = 0,
                .gradient = 0,
                .nonfinite = 0,
                .taken = 0,
                .weight = 0,
                .next_scale = 0};
  if (answer.has_step != 0) finish(w, optimizer, scaler, answer);
  reply.put(answer).put_all(calls);
}

}  // namespace tinymp::exercise
