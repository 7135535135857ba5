#include <lessons/01_half/exercises/3_rounding_modes/question.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/numeric/small_float_codec.h>

void tinymp::exercise::serve(Message& request, Message& reply) {
  serve_each<Question>(request, reply, [](const Question& of) {
    if (of.mode < 0) return without_last_bits(of.magnitude, of.drop, of.negative != 0);
    const auto mode = static_cast<Rounding>(of.mode);
    return without_last_bits(of.magnitude, of.drop, of.negative != 0, mode, of.random);
  });
}
