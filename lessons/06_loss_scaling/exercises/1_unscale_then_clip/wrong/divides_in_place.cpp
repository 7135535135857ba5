// rejected: unscale changes the gradients
void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientCounts> found,
             Cell<float> factor) {
  *found.memory = scan(gradients);
  kernels::scale(gradients, 1 / static_cast<double>(scale.memory->scale), gradients);
  *factor.memory = 1;
}

void clip(const View& x, float max_norm, Cell<float> factor, const View& norm) {
  const double squares = sum_of_chunks<double>(x.size(), [&](std::int64_t begin, std::int64_t n) {
    Block<float> in;
    return lane_sum<double>(n, [values = load(x, begin, n, in), by = *factor.memory](std::int64_t i) {
      const double v = static_cast<double>(values[i] * by);
      return v * v;
    });
  });
  *norm.data<float>() = clip_factor(squares, max_norm, *factor.memory);
}
