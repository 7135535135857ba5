#include <kernels/executors.h>
#include <lessons/lab/classroom/serve.h>
#include <lessons/lab/classroom/tensors.h>

/// The request: x, and how sums are kept; the reply: the means and the variances.
void tinymp::exercise::serve(Message& request, Message& reply) {
  const Tensor x = take_tensor(request);
  const auto format = static_cast<DType>(request.take<std::int32_t>());
  const Accumulation sums{format, request.take<std::int64_t>()};
  const DType wide = x.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor mean({x.shape()[1]}, wide), variance({x.shape()[1]}, wide);
  kernels::cpu::fill(mean.view(), -77);
  kernels::cpu::fill(variance.view(), -77);
  kernels::cpu::column_moments(x.view(), sums, mean.view(), variance.view());
  reply.put_all(mean.to_doubles()).put_all(variance.to_doubles());
}
