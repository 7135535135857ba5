#include <lessons/15_many_processes/exercises/1_wire/setting.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/dist/wire.h>

void tinymp::exercise::serve(Message& request, Message& reply) {
  const auto setting = request.take<Setting>();
  const std::vector<float> own = request.take_all<float>();
  const double factor = dist::predivide_factor(static_cast<dist::Divide>(setting.divide), setting.ranks);
  std::vector<float> travels;
  for (const float sum : own) {
    const Tensor gradient = Tensor::from({1}, std::vector<float>{sum}, static_cast<DType>(setting.gradient));
    const Tensor rounded({1}, static_cast<DType>(setting.wire));
    dist::put_on_wire(gradient.view(), factor, rounded.view());
    travels.push_back(rounded.to_floats()[0]);
  }
  reply.put(Answer{.factor = factor, .divisor = dist::divisor_behind(setting.micro_batches, factor)});
  reply.put_all(travels);
}
