// Exercise 6.2: what clipping does to the factor.
//
// `factor` turns scaled gradients into true ones: 1 / S, so far. sum_of_squares is that of the true
// gradients, in double. Return their norm, the root of it, as a float, and where it is too large make the
// factor smaller:
//
//     shrink = max_norm / (norm + 1e-6)          as PyTorch's clip_grad_norm_ has it
//     factor = factor * shrink, where shrink is below 1
//
// All in double, rounded to float at the end: the norm of finite gradients can lie beyond the largest float,
// and they need clipping most of all. A norm that is infinite (in double) or NaN changes nothing: such a step
// is skipped, or taken as it is; that is decided elsewhere.
TINYMP_HD inline float clip_factor(double sum_of_squares, float max_norm, float& factor) {
  // TODO
  factor *= max_norm;
  return static_cast<float>(sum_of_squares);
}
