#include <lessons/lab/classroom/serve.h>
#include <lessons/lab/classroom/tensors.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/base/error.h>
#include <tinymp/ops/ops.h>
#include <string>

namespace tinymp::exercise {
namespace {

/// Keeps what the op has handed back, also what nobody needs.
struct Listener final : Observer {
  std::vector<Tensor> gradients;
  void forward(const Op&, const std::vector<Tensor>&, const Tensor&) override {}
  void backward(const std::string& op, const std::vector<Tensor>&, const Tensor&, const Tensor&,
                const std::vector<Tensor>& handed) override {
    if (op != "given") gradients = handed;
  }
};

/// An op whose gradient is dy.
Tensor loss_of(const Tensor& y, const Tensor& dy) {
  return record("given", {y}, Tensor::from({}, std::vector<float>{0}),
                [dy](const Tensor&, const Needs&) { return std::vector{dy}; });
}

/// y = w . w: both gradients go to one tensor, and the tape adds them.
void serve_square(Message& request, Message& reply) {
  const Tensor w = take_tensor(request), dy = take_tensor(request);
  w.set_requires_grad(true);
  Tape tape;
  tape.backward(loss_of(matmul(w, w), dy));
  put_tensor(reply, w.grad());
}

/// The reply: what the tape says against the gradients; x, w and dy as they are now; dx and dw.
void serve_product(Message& request, Message& reply) {
  const Tensor x = take_tensor(request), w = take_tensor(request), dy = take_tensor(request);
  x.set_requires_grad(request.take<std::int32_t>() != 0);
  w.set_requires_grad(request.take<std::int32_t>() != 0);
  const auto sums = static_cast<DType>(request.take<std::int32_t>());
  const bool by_linear = request.take<std::int32_t>() != 0;
  Listener listener;
  Tape tape(&listener);
  const std::int64_t columns = w.shape()[1];
  const Tensor bias = tensor_of({columns}, std::vector<double>(static_cast<std::size_t>(columns)), x.dtype());
  const Tensor y = by_linear ? linear(x, w, bias, {.accumulate = sums}) : matmul(x, w, {.accumulate = sums});
  std::string refused;
  try {
    tape.backward(loss_of(y, dy));
  } catch (const Error& error) {
    refused = error.what();
  }
  reply.put_text(refused);
  for (const Tensor& given : {x, w, dy}) put_tensor(reply, given);
  listener.gradients.resize(2);
  for (const Tensor& gradient : listener.gradients) {
    reply.put(gradient ? 1 : 0);
    if (gradient) put_tensor(reply, gradient);
  }
}

}  // namespace

void serve(Message& request, Message& reply) {
  if (request.take<std::int32_t>() != 0)
    serve_square(request, reply);
  else
    serve_product(request, reply);
}

}  // namespace tinymp::exercise
