#include <kernels/executors.h>
#include <lessons/lab/classroom/serve.h>
#include <lessons/lab/classroom/tensors.h>

namespace tinymp::exercise {
namespace {

/// The request: gradients and S; the reply: the factor, the counts, the gradients after unscale.
void serve_unscale(const Tensor& x, Message& request, Message& reply) {
  const ScaleState state{.scale = request.take<float>()};
  kernels::GradientCounts found{.values = -1, .nonfinite = -1, .zeros = -1, .subnormals = -1};
  float factor = -1;
  kernels::cpu::unscale(x.view(), Cell<const ScaleState>(&state, Device::cpu),
                        Cell<kernels::GradientCounts>(&found, Device::cpu),
                        Cell<float>(&factor, Device::cpu));
  reply.put(factor).put(found).put_all(x.to_floats());
}

/// The request: gradients, the old factor, max_norm; the reply: the new factor, the norm, the gradients after clip.
void serve_clip(const Tensor& x, Message& request, Message& reply) {
  auto factor = request.take<float>();
  const auto max_norm = request.take<float>();
  const Tensor norm = tensor_of({}, {-1}, DType::f32);
  kernels::cpu::clip(x.view(), max_norm, Cell<float>(&factor, Device::cpu), norm.view());
  reply.put(factor).put(static_cast<float>(norm.item())).put_all(x.to_floats());
}

}  // namespace

void serve(Message& request, Message& reply) {
  const bool clips = request.take<std::int32_t>() != 0;
  const Tensor x = take_tensor(request);
  if (clips)
    serve_clip(x, request, reply);
  else
    serve_unscale(x, request, reply);
}

}  // namespace tinymp::exercise
