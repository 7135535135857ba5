// Exercise 6.2: what clipping does to the factor.
//
// `factor` turns scaled gradients into true gradients; so far `factor` is 1 / S. sum_of_squares is the sum of
// the squares of the true gradients, in double. Return the norm, the root of sum_of_squares, as a float. If
// the norm is too large, make the factor smaller:
//
//     shrink = max_norm / (norm + 1e-6)          as in PyTorch's clip_grad_norm_
//     factor = factor * shrink, if shrink is below 1
//
// Compute everything in double, and round to float at the end: the norm of finite gradients may exceed the
// largest float, and such gradients need clipping most of all. If the norm is infinite (in double) or NaN,
// leave the factor as it is: another function decides whether to skip such a step.
TINYMP_HD inline float clip_factor(double sum_of_squares, float max_norm, float& factor) {
  // TODO
  factor *= max_norm;
  return static_cast<float>(sum_of_squares);
}
