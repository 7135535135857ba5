#include <lessons/13_eight_bits/exercises/3_rising_floor/setting.h>
#include <lessons/lab/classroom/serve.h>

/// The request: states, each with its policy. The reply: each state after move_scale.
void tinymp::exercise::serve(Message& request, Message& reply) {
  serve_each<Unmoved>(request, reply, [](const Unmoved& of) {
    ScaleState state{of.scale, of.growth_tracker, of.bad != 0, of.steps};
    move_scale(of.policy, state);
    return Moved{state.steps, state.scale, state.growth_tracker, state.bad ? 1 : 0};
  });
}
