// Exercise 6.2: what clipping does to the factor.
//
// `factor` turns scaled gradients into true ones; it is 1 / S so far. sum_of_squares is the sum over the true
// gradients, in double. Return their norm, the root of that sum, as a float. If the norm is too large, make
// the factor smaller:
//
//     shrink = max_norm / (norm + 1e-6)          as in PyTorch's clip_grad_norm_
//     factor = factor * shrink, if shrink is below 1
//
// Compute all of it in double, and round to float at the end: the norm of finite gradients may exceed the
// largest float, and these need clipping most of all. If the norm is infinite (in double) or NaN, leave the
// factor as it is: whether such a step is skipped is decided elsewhere.
TINYMP_HD inline float clip_factor(double sum_of_squares, float max_norm, float& factor) {
  // TODO
  factor *= max_norm;
  return static_cast<float>(sum_of_squares);
}
