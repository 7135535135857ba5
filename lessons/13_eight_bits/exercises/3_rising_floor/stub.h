// Exercise 13.3: the rising floor of enhanced loss scaling.
//
// S moves as under dynamic scaling: move_scale(policy.dynamic, s) backs off after a bad step, grows after
// growth_interval good ones, and sets s.bad to false. On top of that S has a floor, which rises during a run:
// policy.floor.of_step(n) is the floor of step n, and 0 where there is none.
//
//     s.bad       true if a gradient of this step was infinite or NaN
//     s.scale     S
//     s.steps     the steps that were over before this one, good or bad. Count this one, too
//
// Steps count from 1: in the first call s.steps is 0, and the floor is that of step 1.
//
// The floor holds after a back-off, and only there: when this step was bad and has taken S below the floor of this
// step, S becomes the floor. A floor that has risen above S lifts it at the next overflow, and not before. S above the
// floor stays as it is, and growth knows no floor.
//
// Compared are s.scale, s.steps, s.bad and s.growth_tracker; move_scale(policy.dynamic, s) sets the last two.
TINYMP_HD inline void move_scale(const EnhancedScaling& policy, ScaleState& s) {
  move_scale(policy.dynamic, s);
  ++s.steps;  // TODO: the floor
}
