#include <kernels/formulas/clip.h>
#include <lessons/06_loss_scaling/exercises/2_clip_factor/clip.h>
#include <lessons/lab/classroom/serve.h>

void tinymp::exercise::serve(Message& request, Message& reply) {
  serve_each<Unclipped>(request, reply, [](const Unclipped& of) {
    Clipped clipped{0, of.factor};
    clipped.norm = kernels::clip_factor(of.squares, of.max_norm, clipped.factor);
    return clipped;
  });
}
