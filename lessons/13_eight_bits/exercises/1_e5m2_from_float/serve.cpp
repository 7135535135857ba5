#include <lessons/13_eight_bits/exercises/1_e5m2_from_float/setting.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/numeric/e5m2_from_float.h>
#include <bit>

/// The request: some Floats. The reply: their codes.
void tinymp::exercise::serve(Message& request, Message& reply) {
  const auto of = request.take<Floats>();
  const Overflow overflow = of.saturates != 0 ? Overflow::saturate : Overflow::infinity;
  reply.put_all(on_all_cores<std::uint8_t>(of.count, [&](std::size_t i) {
    const std::uint32_t bits = of.first + static_cast<std::uint32_t>(i) * of.step;
    return e5m2_from_float(std::bit_cast<float>(bits), overflow);
  }));
}
