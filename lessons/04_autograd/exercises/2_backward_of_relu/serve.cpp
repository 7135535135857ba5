#include <kernels/formulas/unary.h>
#include <lessons/lab/classroom/serve.h>

namespace tinymp::exercise {
namespace {

/// A list of x, then one of y and one of dy.
template <class C>
void relu(Message& request, Message& reply) {
  serve_each<C>(request, reply, [](C x) { return kernels::Relu::forward(x); });
  const auto y = request.all<C>();
  const auto dy = request.all<C>(y.size());
  std::vector<C> dx;
  for (std::size_t i = 0; i < y.size(); ++i) dx.push_back(kernels::Relu::backward(y[i], dy[i]));
  reply.put_all(dx);
}

}  // namespace

/// The request: the bytes of a number, and lists of such numbers. The reply: forward of each x, then backward
/// of each pair.
void serve(Message& request, Message& reply) {
  if (request.take<std::uint64_t>() == sizeof(float)) return relu<float>(request, reply);
  relu<double>(request, reply);
}

}  // namespace tinymp::exercise
