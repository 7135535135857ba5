#include <kernels/executors.h>
#include <lessons/lab/classroom/serve.h>
#include <lessons/lab/classroom/tensors.h>

/// The request: scores (B,H,T,S), the format of the shares, the scale, causal, and the lengths, one a text or none; the
/// reply: the shares.
void tinymp::exercise::serve(Message& request, Message& reply) {
  const Tensor scores = take_tensor(request);
  const auto format = request.take<DType>();
  const auto scale = request.take<double>();
  const bool causal = request.take<std::int32_t>() != 0;
  const std::vector<std::int32_t> lengths = request.take_all<std::int32_t>();
  const Shape& shape = scores.shape();
  const kernels::AttentionMask mask{.steps = shape[2],
                                    .rows_of_text = shape[1] * shape[2],
                                    .causal = causal,
                                    .lengths = lengths.empty() ? nullptr : lengths.data()};
  const Tensor shares(shape, format);
  kernels::cpu::attention_softmax(scores.view(), mask, scale, shares.view());
  reply.put_all(shares.to_doubles());
}
