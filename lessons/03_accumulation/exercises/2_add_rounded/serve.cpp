#include <kernels/cpu/column_sums.h>
#include <lessons/lab/classroom/serve.h>

/// The request: how many cases, and of each rows, n, stride, whether the format is FP16, the terms and the
/// sums, with what lies behind both. The reply: of each the sums of afterwards, again with what lies behind.
void tinymp::exercise::serve(Message& request, Message& reply) {
  const auto cases = request.take<std::uint64_t>();
  for (std::uint64_t i = 0; i < cases; ++i) {
    const auto rows = request.take<std::int64_t>();
    const auto n = request.take<std::int64_t>();
    const auto stride = request.take<std::int64_t>();
    const DType format = request.take<std::uint64_t>() == 1 ? DType::f16 : DType::bf16;
    const auto terms = request.all<float>();
    auto sums = request.take_all<float>();
    kernels::cpu::add_rounded({terms.data(), stride}, rows, n, format, sums.data());
    reply.put_all(sums);
  }
}
