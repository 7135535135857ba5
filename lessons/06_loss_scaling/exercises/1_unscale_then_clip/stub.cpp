// Exercise 6.1: from scaled gradients to the factor that the optimizer multiplies by.
//
// Backward has written `gradients`, in FP16, BF16 or FP32. Each gradient is multiplied by S =
// scale.memory->scale. Do not divide the gradients in place: in FP16 a small gradient divided by S is 0 again.
// Store one float instead, `factor`. The optimizer computes gradient * factor in FP32.
//
//   unscale   *found.memory = the counts of scan(gradients), a function above in this file
//             *factor.memory = 1 / S, computed in double and then rounded: true_factor(*scale.memory)
//
//   clip      runs after unscale, with factor = 1 / S. The norm of the *true* gradients is the root of the
//             sum of (x[i] * factor)^2. Compute the product in FP32, as the optimizer does, and the square
//             and the sum in double (squares of floats may exceed the largest float). clip_factor(sum,
//             max_norm, *factor.memory) takes the root, makes the factor smaller if the norm is too large,
//             and returns the norm. Store the norm in *norm.data<float>(). Do not change x.
//
// You can use
//     sum_of_chunks<double>(x.size(), [&](std::int64_t begin, std::int64_t n) { ... })
//         calls the function for one chunk after the other, and adds up the results; a chunk is the n
//         values from `begin` on, at most 1024
//     Block<float> room; const float* values = load(x, begin, n, room);
//         the n values from `begin` on, in FP32
//     lane_sum<double>(n, [=](std::int64_t i) { ... })
//         adds up the results of its function for i = 0 .. n - 1
void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientCounts> found,
             Cell<float> factor) {
  // TODO: no gradient may change.
  kernels::scale(gradients, 1 / static_cast<double>(scale.memory->scale), gradients);
  *found.memory = scan(gradients);
  *factor.memory = 1;
}

void clip(const View&, float, Cell<float>, const View& norm) {
  // TODO: the norm of x * factor, and the new factor.
  *norm.data<float>() = 0;
}
