#include <lessons/09_autocast/exercises/2_cast_once/actions.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/nn/module.h>
#include <tinymp/ops/ops.h>
#include <deque>
#include <optional>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

Tensor scalar(float value, DType format = DType::f32) {
  return Tensor::from({1, 1}, std::vector<float>{value}, format);
}
Tensor parameter(float value, DType format = DType::f32) {
  return scalar(value, format).set_requires_grad(true);
}

/// What matmul gets for w, and exp for x.
Tensor product_gets(const Tensor& w) {
  const Tensor x = scalar(1);
  const Tensor* const operands[]{&x, &w};
  const Recast as = cast_policy()->recast("matmul", operands);
  return as ? as[1] : w;
}
Tensor exp_gets(const Tensor& x) {
  const Tensor* const operands[]{&x};
  const Recast as = cast_policy()->recast("exp", operands);
  return as ? as[0] : x;
}

/// Regions and tapes end in the opposite order; a tensor that came is held, so that no other has its id.
class Scene {
 public:
  ~Scene() {
    while (!tapes_.empty()) tapes_.pop_back();
    while (!regions_.empty()) regions_.pop_back();
  }
  Answer act(const Action& action) {
    Tensor came;
    switch (action.what) {
      case What::region:
        regions_.emplace_back(action.format);
        break;
      case What::end_region:
        regions_.pop_back();
        break;
      case What::tape:
        tapes_.emplace_back();
        break;
      case What::end_tape:
        tapes_.pop_back();
        break;
      case What::parameter:
        tensors_.push_back(parameter(action.value, action.format));
        break;
      case What::data:
        tensors_.push_back(scalar(action.value, action.format));
        break;
      case What::activation:
        tensors_.push_back(scale(tensors_[action.of], 2));
        break;
      case What::product:
        held_.push_back(came = product_gets(tensors_[action.of]));
        break;
      case What::exp:
        held_.push_back(came = exp_gets(tensors_[action.of]));
        break;
      case What::passing:
        came = product_gets(parameter(action.value));
        break;
      case What::step:
        tensors_[action.of].data<float>()[0] = action.value;
        parameters_changed();
        break;
    }
    return {.id = reinterpret_cast<std::uintptr_t>(came ? came.id() : nullptr),
            .made = regions_.empty() ? 0 : regions_.back().casts_of_parameters(),
            .format = came ? static_cast<std::int32_t>(came.dtype()) : -1,
            .value = came ? came.to_floats().at(0) : 0};
  }

 private:
  std::vector<Tensor> tensors_, held_;
  std::deque<Autocast> regions_;
  std::deque<Tape> tapes_;
};

/// x1 w + x2 w + ..., backwards.
Round one_round(const Tensor& w, std::span<const float> parts, std::string& error) {
  Tape tape;
  std::vector<Tensor> terms;
  for (const float part : parts) terms.push_back(matmul(scalar(part), w));
  Tensor total = sum(terms[0]);
  for (std::size_t i = 1; i < terms.size(); ++i) total = add(total, sum(terms[i]));
  w.clear_grad();
  Round round{.wants_gradient = total.requires_grad() ? 1 : 0, .threw = 0, .format = -1, .gradient = 0};
  if (round.wants_gradient == 0) return round;
  try {
    tape.backward(total);
  } catch (const std::exception& thrown) {
    round.threw = 1;
    error = thrown.what();
    return round;
  }
  if (const Tensor found = w.grad()) {
    round.format = static_cast<std::int32_t>(found.dtype());
    round.gradient = found.to_floats().at(0);
  }
  return round;
}

void gradient(Message& request, Message& reply) {
  const Autocast region(DType::f16);
  const Tensor w = parameter(request.take<float>());
  const auto parts = request.all<float>();
  for (int i = 0; i < 2; ++i) {
    std::string error;
    reply.put(one_round(w, parts, error)).put_text(error);
  }
  reply.put(region.casts_of_parameters());
}

}  // namespace

void serve(Message& request, Message& reply) {
  if (request.take<Asked>() == Asked::gradient) return gradient(request, reply);
  Scene scene;
  serve_each<Action>(request, reply, [&](const Action& action) { return scene.act(action); });
}

}  // namespace tinymp::exercise
