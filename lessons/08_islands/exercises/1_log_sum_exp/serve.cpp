#include <kernels/executors.h>
#include <lessons/lab/classroom/serve.h>
#include <lessons/lab/classroom/tensors.h>

/// The request: logits; the reply: the two parts of the log sum exp of each row, by the forward of
/// cross-entropy. Each row's label is its last class.
void tinymp::exercise::serve(Message& request, Message& reply) {
  const Tensor logits = take_tensor(request);
  const std::int64_t batch = logits.shape()[0], columns = logits.shape()[1];
  const DType wide = logits.dtype() == DType::f64 ? DType::f64 : DType::f32;
  const Tensor tops({batch}, wide), log_sums({batch}, wide), loss({}, wide);
  const std::vector<std::int32_t> labels(static_cast<std::size_t>(batch),
                                         static_cast<std::int32_t>(columns - 1));
  kernels::cpu::cross_entropy(logits.view(), labels, tops.view(), log_sums.view(), loss.view());
  reply.put_all(tops.to_doubles()).put_all(log_sums.to_doubles());
}
