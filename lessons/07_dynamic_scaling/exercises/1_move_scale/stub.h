// Exercise 7.1: how S moves after a step.
//
//     s.bad              true if a gradient of this step was infinite or NaN
//     s.scale            S
//     s.growth_tracker   the count: good steps in a row before this step
//
// A bad step: S becomes S x policy.backoff, and the count starts again at 0. S has no lower bound; S may even
// become 0.
//
// A good step: the count grows by one. If the count is then policy.growth_interval, S becomes S x policy.growth,
// and the count starts again at 0. If the product is infinite in FP32, S stays, but the count still starts again.
// (A state restored from a run with a longer interval may have a count that is policy.growth_interval or more.
// Then S does not grow until a bad step starts the count again. PyTorch's GradScaler does the same.)
//
// You can use std::isfinite and std::numeric_limits<float>::infinity(); <cmath> and <limits> are included.
//
// Growth and backoff are doubles: compute the product in double, and round the product to float once. After
// every step, bad or good, set s.bad to false, so that the next step begins with a clean state.
TINYMP_HD inline void move_scale(const DynamicScaling& policy, ScaleState& s) {
  static_cast<void>(policy);
  // TODO: two kinds of steps.
  s.bad = false;
}
