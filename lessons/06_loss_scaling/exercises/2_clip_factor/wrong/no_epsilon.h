// rejected: leaves out 1e-6
TINYMP_HD inline float clip_factor(double sum_of_squares, float max_norm, float& factor) {
  const double norm = std::sqrt(sum_of_squares);
  const double shrink = static_cast<double>(max_norm) / norm;
  const bool finite = norm - norm == 0;
  if (finite && shrink < 1) factor = static_cast<float>(static_cast<double>(factor) * shrink);
  return static_cast<float>(norm);
}
