#include <lessons/lab/classroom/serve.h>
#include <tinymp/numeric/half_codec.h>
#include <bit>

/// The request: the bits of a float, and of how many from there on the half is wanted.
void tinymp::exercise::serve(Message& request, Message& reply) {
  const auto first = request.take<std::uint32_t>();
  const auto count = request.take<std::uint32_t>();
  reply.put_all(on_all_cores<std::uint16_t>(count, [&](std::size_t i) {
    return half_bits_from_float(std::bit_cast<float>(static_cast<std::uint32_t>(first + i)));
  }));
}
