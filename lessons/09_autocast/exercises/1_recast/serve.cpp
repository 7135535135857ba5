#include <lessons/09_autocast/exercises/1_recast/operands.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/ops/ops.h>
#include <string>

namespace tinymp::exercise {
namespace {

/// What the op gets in a region, for many mixtures of operands.
void mixtures(Message& request, Message& reply) {
  const auto format = request.take<DType>();
  std::vector<AutocastRule> rules;
  if (request.take<int>() != 0)
    rules = {{"exp", RunsIn::narrow}, {"matmul", RunsIn::wide}, {"relu", RunsIn::wide}};
  const Autocast region(format, rules);
  const std::string op = request.text();
  while (!request.at_end()) {
    std::vector<Tensor> operands;
    std::vector<const Tensor*> all;
    for (const Operand& x : request.all<Operand>())
      operands.push_back(Tensor::from({1, 2}, std::vector<float>(x.values, x.values + 2), x.format));
    for (const Tensor& x : operands) all.push_back(&x);
    const Recast found = cast_policy()->recast(op, all);
    reply.put(static_cast<std::int64_t>(found.all().size()));
    for (const Tensor& x : found.all())
      reply.put(x ? static_cast<int>(x.dtype()) : no_format)
          .put_all(x ? x.to_floats() : std::vector<float>{});
  }
}

/// A product with a parameter, twice.
void parameter(Message& request, Message& reply) {
  const auto value = request.take<float>();
  const Autocast region(DType::f16);
  const Tensor x = Tensor::from({1, 2}, std::vector<float>(2, 0.1f));
  const Tensor w = Tensor::from({1, 2}, std::vector<float>(2, value)).set_requires_grad(true);
  const Tensor* const operands[]{&x, &w};
  const Recast first = cast_policy()->recast("matmul", operands);
  const Recast second = cast_policy()->recast("matmul", operands);
  const bool complete = first.all().size() == 2 && second.all().size() == 2;
  reply.put(Uses{.copies = region.casts_of_parameters(),
                 .are_one = complete && first[1].id() == second[1].id() ? 1 : 0,
                 .value = complete && first[1] ? first[1].to_floats().at(0) : 0});
}

}  // namespace

void serve(Message& request, Message& reply) {
  switch (request.take<Asked>()) {
    case Asked::mixtures:
      return mixtures(request, reply);
    case Asked::parameter:
      return parameter(request, reply);
  }
}

}  // namespace tinymp::exercise
