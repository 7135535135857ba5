// Exercise 7.1: how S moves after a step.
//
//     s.bad              was a gradient of this step infinite or NaN?
//     s.scale            S
//     s.growth_tracker   good steps in a row so far, this one not yet counted
//
// A bad step: S becomes S x policy.backoff, and the count of good steps starts again at 0. S may become as
// small as it likes, even 0.
//
// A good step is counted. The one that makes the count policy.growth_interval lets S grow to S x
// policy.growth, and the count starts again at 0; it does so as well where S stays because the product is
// infinite in FP32. (Restored from a run with a longer interval the count may lie beyond this one: then S
// never grows, until a bad step has begun the count again. PyTorch's GradScaler does the same.)
//
// You can use std::isfinite and std::numeric_limits<float>::infinity(); <cmath> and <limits> are included.
//
// Growth and backoff are doubles: form the product in double, and round it to float once. After the step,
// whichever it was, s.bad is false: the next one begins with a clean state.
TINYMP_HD inline void move_scale(const DynamicScaling& policy, ScaleState& s) {
  static_cast<void>(policy);
  // TODO: two kinds of steps.
  s.bad = false;
}
