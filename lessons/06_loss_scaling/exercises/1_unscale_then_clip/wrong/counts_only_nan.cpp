// rejected: other counts than scan\(gradients\)
void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientCounts> found,
             Cell<float> factor) {
  Block<float> room;
  const float* values = load(gradients, 0, std::min(gradients.size(), block_size), room);
  found.memory->values = gradients.size();
  found.memory->nonfinite = 0;
  for (std::int64_t i = 0; i < std::min(gradients.size(), block_size); ++i)
    found.memory->nonfinite += values[i] != values[i];
  *factor.memory = true_factor(*scale.memory);
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
