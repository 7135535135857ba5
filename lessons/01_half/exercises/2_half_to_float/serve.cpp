#include <lessons/lab/classroom/serve.h>
#include <tinymp/numeric/half_codec.h>

void tinymp::exercise::serve(Message& request, Message& reply) {
  serve_each<std::uint16_t>(request, reply, [](std::uint16_t half) { return float_from_half_bits(half); });
}
