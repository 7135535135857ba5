// Exercise 5.2: Adam (Kingma and Ba 2015, algorithm 1), and AdamW where `decoupled` is true.
//
//     g = g + weight_decay w                            Adam only: the decay is part of the gradient
//     m0 = beta1 m0 + (1 - beta1) g                     a mean of gradients
//     m1 = beta2 m1 + (1 - beta2) g^2                   a mean of their squares
//     c1 = 1 - beta1^t,  c2 = 1 - beta2^t               corrections, because both means began at 0
//     step = (m0 / c1) / (sqrt(m1 / c2) + epsilon)
//     u = lr step                                       Adam
//     u = lr (step + weight_decay w)                    AdamW: the decay does not go through the means
//
// The members above hold the constants. beta1 and beta2 are floats. rest1 and rest2 are 1 - beta1 and
// 1 - beta2, computed in double and rounded to float once. (The relative error of 1 - 0.999f is 1.3e-5.)
// integer_power(exact_beta1, t) is beta1^t in double.
//
// begin is called once a step. s.steps is t. It counts this step already, so t is 1 in the first step. begin
// sets s.correction1 and s.correction2 to c1 and c2. Compute both in double. moments is called for each weight
// and sets m[0] and m[1] to m0 and m1. Then update is called with the moments as they are stored: in FP32, or
// rounded to 16 bits. update returns u. settled(x) is 0 if x is so small that it would only slow the processor
// down, and x otherwise: store settled(m0).
TINYMP_HD void begin(StepState& s) const {
  s.correction1 = 1;
  s.correction2 = 1;
  // TODO
}
TINYMP_HD void moments(float, float g, float* m) const {
  m[0] = g;
  m[1] = g * g;
}
TINYMP_HD float update(float, float, const float* m, const StepState& s) const { return s.lr * m[0]; }
