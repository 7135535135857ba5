#include <kernels/formulas/optimizers.h>
#include <lessons/05_master_weights/exercises/2_adam/weight.h>
#include <lessons/lab/classroom/serve.h>

namespace tinymp::exercise {
namespace {

template <class F>
auto with_rule(const Weight& of, F f) {
  if (of.decoupled != 0) return f(kernels::adam_rule<true>(of.beta1, of.beta2, of.epsilon, of.decay));
  return f(kernels::adam_rule<false>(of.beta1, of.beta2, of.epsilon, of.decay));
}

Begun begun(const Weight& of) {
  return with_rule(of, [&](const auto& rule) {
    kernels::StepState s{.steps = of.t, .lr = of.lr};
    rule.begin(s);
    float m[2] = {of.m0, of.m1};
    rule.moments(of.w, of.g, m);
    return Begun{s.correction1, s.correction2, s.steps, s.lr, m[0], m[1]};
  });
}

float update(const Corrected& of) {
  return with_rule(of.weight, [&](const auto& rule) {
    kernels::StepState s{.steps = of.weight.t, .lr = of.weight.lr};
    s.correction1 = of.correction1;
    s.correction2 = of.correction2;
    const float m[2] = {of.weight.m0, of.weight.m1};
    return rule.update(of.weight.w, of.weight.g, m, s);
  });
}

}  // namespace

/// The request: 0 and a list of weights; or 1 and a list of weights with their corrections.
void serve(Message& request, Message& reply) {
  if (request.take<std::uint64_t>() == 0) return serve_each<Weight>(request, reply, begun);
  serve_each<Corrected>(request, reply, update);
}

}  // namespace tinymp::exercise
