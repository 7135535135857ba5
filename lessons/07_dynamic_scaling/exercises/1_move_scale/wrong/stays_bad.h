// rejected: leaves the state bad
TINYMP_HD inline void move_scale(const DynamicScaling& policy, ScaleState& s) {
  if (s.bad) {
    s.scale = static_cast<float>(static_cast<double>(s.scale) * policy.backoff);
    s.growth_tracker = 0;
  } else if (++s.growth_tracker == policy.growth_interval) {
    const double grown = static_cast<double>(s.scale) * policy.growth;
    const float rounded = static_cast<float>(grown);
    if (rounded < std::numeric_limits<float>::infinity()) s.scale = rounded;
    s.growth_tracker = 0;
  }
}
