// rejected: forms 1 - beta in FP32
TINYMP_HD void begin(StepState& s) const {
  s.correction1 = static_cast<float>(1 - integer_power(exact_beta1, s.steps));
  s.correction2 = static_cast<float>(1 - integer_power(exact_beta2, s.steps));
}
TINYMP_HD void moments(float w, float g, float* m) const {
  if constexpr (!decoupled) g = g + weight_decay * w;
  m[0] = settled(beta1 * m[0] + (1 - beta1) * g);
  m[1] = beta2 * m[1] + (1 - beta2) * (g * g);
}
TINYMP_HD float update(float w, float, const float* m, const StepState& s) const {
  const float step = (m[0] / s.correction1) / (std::sqrt(m[1] / s.correction2) + epsilon);
  if constexpr (decoupled) return s.lr * (step + weight_decay * w);
  return s.lr * step;
}
