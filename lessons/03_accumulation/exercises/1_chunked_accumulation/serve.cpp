#include <kernels/numerics/accumulate.h>
#include <lessons/lab/classroom/serve.h>

/// The request: how many cases, and of each whether its sums are halves, its chunk, n, and the factors, of
/// which there are more than n. The reply: their dot products.
void tinymp::exercise::serve(Message& request, Message& reply) {
  const auto cases = request.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < cases; ++i) {
    const DType format = request.take<std::uint64_t>() == 1 ? DType::f16 : DType::f32;
    const auto chunk = request.take<std::int64_t>();
    const auto n = request.take<std::int64_t>();
    const auto a = request.all<float>(), b = request.all<float>();
    reply.put(kernels::dot(a.data(), b.data(), n, {.format = format, .chunk = chunk}));
  }
}
