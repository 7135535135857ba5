#include <kernels/scale_update.h>
#include <lessons/07_dynamic_scaling/exercises/1_move_scale/moved.h>
#include <lessons/classroom/serve.h>

/// The request: a policy and states; the reply: each of the states moved.
void tinymp::exercise::serve(Message& request, Message& reply) {
  const auto policy = request.take<DynamicScaling>();
  serve_each<kernels::ScaleState>(request, reply, [&](kernels::ScaleState state) {
    kernels::move_scale(policy, state);
    return Moved{state.scale, state.growth_tracker, state.bad ? 1 : 0};
  });
}
