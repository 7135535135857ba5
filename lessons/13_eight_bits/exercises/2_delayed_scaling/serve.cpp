#include <lessons/13_eight_bits/exercises/2_delayed_scaling/setting.h>
#include <lessons/lab/classroom/serve.h>

/// The request: steps. The reply: the state and the history after each.
void tinymp::exercise::serve(Message& request, Message& reply) {
  serve_each<Unmoved>(request, reply, [](const Unmoved& of) {
    Histories history = of.history;
    DelayedScale state{of.scale, of.next};
    move_delayed_scale(of.policy, history.amax.data(), of.amax, state);
    return Moved{state.scale, state.next, history};
  });
}
