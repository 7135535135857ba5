#include <kernels/executors.h>
#include <lessons/05_master_weights/exercises/1_master_weights/setting.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/tensor/tensor.h>

namespace tinymp::exercise {
namespace {

Tensor taken(Message& request, std::int32_t format) {
  const auto values = request.take_all<float>();
  return Tensor::from({static_cast<std::int64_t>(values.size())}, values, static_cast<DType>(format));
}

/// The step after those that `state` has counted.
kernels::StepOutcome update(const kernels::UpdateRule& rule, const kernels::UpdateArenas& arenas,
                            float factor, kernels::StepState state) {
  kernels::StepOutcome report;
  const kernels::GradientCounts found;
  kernels::PassCounts counts;
  const Device cpu = Device::cpu;
  kernels::cpu::take_step(rule, arenas, Cell<const float>(&factor, cpu),
                          Cell<const kernels::GradientCounts>(&found, cpu), false,
                          Cell<kernels::StepState>(&state, cpu), Cell<kernels::StepOutcome>(&report, cpu),
                          Cell<kernels::PassCounts>(&counts, cpu));
  return report;
}

void sgd(Message& request, Message& reply) {
  const Step s = request.take<Step>();
  Tensor master = taken(request, s.copy);
  const Tensor weights = taken(request, s.weights), moment = taken(request, s.state),
               gradients = taken(request, s.gradients);
  if (s.has_master == 0) master = weights;
  kernels::UpdateRule rule = kernels::SgdRule<false>{s.momentum, s.decay};
  if (s.momentum != 0) rule = kernels::SgdRule<true>{s.momentum, s.decay};
  const auto lost = update(rule, {weights.view(), master.view(), gradients.view(), {moment.view(), {}}},
                           s.factor, {.steps = 0, .lr = s.lr})
                        .updates;
  reply.put_all(master.to_floats()).put_all(weights.to_floats()).put_all(moment.to_floats());
  reply.put(std::int64_t{lost.values}).put(std::int64_t{lost.underflowed}).put(std::int64_t{lost.absorbed});
}

void adam(Message& request, Message& reply) {
  const auto format = request.take<std::int32_t>();
  const Tensor master = taken(request, static_cast<std::int32_t>(DType::f32)),
               weights = Tensor::from(master.shape(), master.to_floats(), DType::f16),
               gradients = taken(request, static_cast<std::int32_t>(DType::f32)), m0 = taken(request, format),
               m1 = taken(request, format);
  const auto rule = kernels::adam_rule<true>(0.9, 0.999, 1e-8f, 0.01f);
  update(rule, {weights.view(), master.view(), gradients.view(), {m0.view(), m1.view()}}, 1,
         {.steps = 2, .lr = 0.01f});
  reply.put_all(master.to_floats()).put_all(m0.to_floats()).put_all(m1.to_floats());
}

}  // namespace

/// The request: 0 and a step of SGD, or 1 and a step of Adam. The reply: the values in the arenas after the step.
/// For SGD the counts of lost updates follow.
void serve(Message& request, Message& reply) {
  if (request.take<std::uint64_t>() == 0) return sgd(request, reply);
  adam(request, reply);
}

}  // namespace tinymp::exercise
