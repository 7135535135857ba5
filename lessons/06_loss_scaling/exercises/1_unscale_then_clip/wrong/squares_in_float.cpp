// rejected: beyond the largest float
void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientCounts> found,
             Cell<float> factor) {
  *found.memory = scan(gradients);
  *factor.memory = true_factor(*scale.memory);
}

void clip(const View& x, float max_norm, Cell<float> factor, const View& norm) {
  const double squares = sum_of_chunks<double>(x.size(), [&](std::int64_t begin, std::int64_t n) {
    Block<float> in;
    return lane_sum<double>(n, [values = load(x, begin, n, in), by = *factor.memory](std::int64_t i) {
      const float v = values[i] * by;
      return static_cast<double>(v * v);
    });
  });
  *norm.data<float>() = clip_factor(squares, max_norm, *factor.memory);
}
