// Exercise 6.1: from scaled gradients to the factor that the optimizer multiplies by.
//
// Backward has left `gradients`, FP16, BF16 or FP32, every one multiplied by S = scale.memory->scale. Nothing
// is divided there: they may be FP16, and in FP16 a small gradient divided by S is 0 again. What is kept
// instead is one float, `factor`, and the optimizer reads gradient * factor, in FP32.
//
//   unscale   *found.memory: what scan(gradients) counts, which is above in this file
//             *factor.memory: 1 / S, computed in double and then rounded: true_factor(*scale.memory)
//
//   clip      comes after it, with factor = 1 / S. The norm of the *true* gradients is the root of the sum of
//             (x[i] * factor)^2: the product in FP32, as the optimizer forms it, the square and the sum in
//             double (squares of floats go beyond the largest float). clip_factor(sum, max_norm,
//             *factor.memory) takes the root, makes the factor smaller where the norm is too large, and
//             returns the norm, which goes to *norm.data<float>(). x is not changed.
//
// To hand: sum_of_chunks<double>(x.size(), [&](std::int64_t begin, std::int64_t n) { ... })  adds up what its
// function says of n values, at most 1024, from `begin` on;  Block<float> room; const float* values =
// load(x, begin, n, room);  are those values in FP32;  lane_sum<double>(n, [=](std::int64_t i) { ... })  adds
// up n terms.
void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientCounts> found,
             Cell<float> factor) {
  // TODO: no gradient is to change.
  kernels::scale(gradients, 1 / static_cast<double>(scale.memory->scale), gradients);
  *found.memory = scan(gradients);
  *factor.memory = 1;
}

void clip(const View&, float, Cell<float>, const View& norm) {
  // TODO: the norm of x * factor, and what follows for the factor.
  *norm.data<float>() = 0;
}
