#include <lessons/07_dynamic_scaling/exercises/1_move_scale/moved.h>
#include <lessons/lab/classroom/serve.h>
#include <tinymp/numeric/loss_scaling.h>

/// The request: states, each with its policy. The reply: each state after move_scale.
void tinymp::exercise::serve(Message& request, Message& reply) {
  serve_each<Unmoved>(request, reply, [](const Unmoved& of) {
    ScaleState state{of.scale, of.growth_tracker, of.bad != 0};
    move_scale(of.policy, state);
    return Moved{state.scale, state.growth_tracker, state.bad ? 1 : 0};
  });
}
