// Exercise 5.2: Adam and AdamW, function by function. The oracle computes in long double. Each float of the answer
// may differ from the oracle by a few roundings.

#include <lessons/05_master_weights/exercises/2_adam/weight.h>
#include <lessons/lab/classroom/judge.h>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

using Real = long double;

struct Constants {
  double beta1 = 0.9, beta2 = 0.999;
  float epsilon = 1e-8f, decay = 0;
};

/// One weight in one step.
struct Case {
  Constants c;
  bool decoupled;
  std::int64_t t;
  float lr, w, g, m0, m1;
};

constexpr Real few_roundings = 8 * 0x1p-24L;

/// True if a and b differ by at most a few roundings of a number of `size`. b is a sum, and `size` is the sum of the
/// magnitudes of its terms.
bool close(float a, Real b, Real size) {
  const auto x = static_cast<Real>(a);
  return x == b || std::fabs(x - b) <= few_roundings * size + 0x1p-148L;
}
bool close(float a, Real b) { return close(a, b, std::fabs(b)); }

/// 1 - beta^t. beta^t is computed by t multiplications.
Real correction(double beta, std::int64_t t) {
  Real power = 1;
  for (std::int64_t i = 0; i < t; ++i) power *= static_cast<Real>(beta);
  return 1 - power;
}

std::string shown(const Case& k) {
  return std::string("\n  ") + (k.decoupled ? "AdamW" : "Adam") + ", t = " + std::to_string(k.t) + ", lr " +
         decimal(k.lr) + ", beta1 " + decimal(static_cast<float>(k.c.beta1)) + ", beta2 " +
         decimal(static_cast<float>(k.c.beta2)) + ", epsilon " + decimal(k.c.epsilon) + ", weight_decay " +
         decimal(k.c.decay) + "\n  weight " + decimal(k.w) + ", gradient " + decimal(k.g) + ", m0 " +
         decimal(k.m0) + ", m1 " + decimal(k.m1);
}
std::string lines(const Case& k, const char* what, Real right, float yours) {
  return shown(k) + "\n  expected = " + what + " " + decimal(static_cast<float>(right)) +
         "\n  yours    = " + what + " " + decimal(yours);
}

void begin(Judge& judge, const Case& k, const Begun& s) {
  const auto look = [&](const char* what, float yours, double beta, double other, float as_float) {
    const Real right = correction(beta, k.t);
    judge.expect(close(yours, right), [&] {
      std::string why = "Your code gives a wrong correction: the correction is 1 - beta^t.";
      if (yours == 1)
        why =
            "Your code leaves the correction at 1. Both means begin at 0, so the first steps need the "
            "corrections.";
      else if (close(yours, correction(other, k.t)))
        why = "Your code mixes up beta1 and beta2.";
      else if (close(yours, correction(beta, k.t - 1)))
        why = "Your code takes a t that is one too small: s.steps counts this step already.";
      else if (close(yours, correction(beta, k.t + 1)))
        why = "Your code takes a t that is one too large: s.steps counts this step already.";
      else if (close(yours, 1 - right))
        why = "Your code gives beta^t; the correction is 1 - beta^t.";
      else if (std::fabs(static_cast<Real>(yours) - correction(static_cast<double>(as_float), k.t)) <= 2e-7L)
        why = "Your code forms 1 - beta^t in FP32. For small t the difference loses half of its digits.";
      return why + lines(k, what, right, yours);
    });
  };
  look("correction1", s.correction1, k.c.beta1, k.c.beta2, static_cast<float>(k.c.beta1));
  look("correction2", s.correction2, k.c.beta2, k.c.beta1, static_cast<float>(k.c.beta2));
  judge.expect(s.steps == k.t && s.lr == k.lr, [&] {
    return "Your code changes the count of steps or the learning rate in begin; begin sets only the "
           "corrections." +
           shown(k) + "\n  expected = steps " + std::to_string(k.t) + "\n  yours    = steps " +
           std::to_string(s.steps);
  });
}

std::string why_moment(const Case& k, int which, float yours, Real g, Real beta, Real other, float old) {
  const auto plain = static_cast<Real>(k.g), power = which == 0 ? g : g * g, was = static_cast<Real>(old);
  const Real plain_power = which == 0 ? plain : plain * plain;
  const Real coupled = plain + static_cast<Real>(k.c.decay) * static_cast<Real>(k.w);
  const Real short_beta = static_cast<Real>(static_cast<float>(beta));
  if (close(yours, power, power))
    return "Your code forgets the old mean: the new mean begins with beta times the old mean.";
  if (close(yours, other * was + (1 - other) * power, std::fabs(was) + std::fabs(power)))
    return "Your code mixes up beta1 and beta2: beta1 belongs to m0, and beta2 to m1.";
  if (k.decoupled && k.c.decay != 0 &&
      close(yours, beta * was + (1 - beta) * (which == 0 ? coupled : coupled * coupled)))
    return "Your code puts the weight decay into the means. AdamW: the weight decay is no part of the "
           "gradient.";
  if (!k.decoupled && k.c.decay != 0 && close(yours, beta * was + (1 - beta) * plain_power))
    return "Your code leaves the weight decay out of the means. Adam: the weight decay is part of the "
           "gradient, before the means are formed.";
  if (close(yours, beta * was + power, std::fabs(was) + std::fabs(power)))
    return "Your code adds the gradient with a factor of 1, as in a sum. In a mean the factor is 1 - beta.";
  if (which == 1 && close(yours, beta * was + (1 - beta) * g))
    return "Your code keeps a mean of gradients in m1; m1 is a mean of squared gradients.";
  if (close(yours, (1 - beta) * was + beta * power, std::fabs(was) + std::fabs(power)))
    return "Your code swaps the factors: beta multiplies the old mean, and 1 - beta multiplies the gradient.";
  if (close(yours, short_beta * was + (1 - short_beta) * power, std::fabs(was) + std::fabs(power)))
    return "Your code forms 1 - beta in FP32. For beta = 0.999 this has a relative error of 1.3e-5. Use "
           "rest1 "
           "and rest2, which are rounded only once.";
  return which == 0 ? "Your code gives a wrong m0: m0 is beta1 m0 + (1 - beta1) g."
                    : "Your code gives a wrong m1: m1 is beta2 m1 + (1 - beta2) g^2.";
}

void moments(Judge& judge, const Case& k, const Begun& yours) {
  const float m[2] = {yours.m0, yours.m1};
  const Real decay = k.decoupled ? 0 : static_cast<Real>(k.c.decay) * static_cast<Real>(k.w);
  const Real g = static_cast<Real>(k.g) + decay, size = std::fabs(static_cast<Real>(k.g)) + std::fabs(decay);
  const Real beta1 = static_cast<Real>(k.c.beta1), beta2 = static_cast<Real>(k.c.beta2);
  Real first = beta1 * static_cast<Real>(k.m0) + (1 - beta1) * g;
  const Real second = beta2 * static_cast<Real>(k.m1) + (1 - beta2) * g * g;
  const bool settles = std::fabs(first) < 0x1p-120L;
  if (settles) first = 0;
  judge.expect(close(m[0], first, beta1 * std::fabs(static_cast<Real>(k.m0)) + (1 - beta1) * size), [&] {
    return (settles ? "Your code keeps an m0 that is too small to matter: pass m0 through settled(), which "
                      "makes it 0."
                    : why_moment(k, 0, m[0], g, beta1, beta2, k.m0)) +
           lines(k, "m0", first, m[0]);
  });
  judge.expect(close(m[1], second, beta2 * static_cast<Real>(k.m1) + (1 - beta2) * size * size),
               [&] { return why_moment(k, 1, m[1], g, beta2, beta1, k.m1) + lines(k, "m1", second, m[1]); });
}

void update(Judge& judge, const Case& k, float yours) {
  const Real c1 = correction(k.c.beta1, k.t), c2 = correction(k.c.beta2, k.t);
  const auto m0 = static_cast<Real>(k.m0), m1 = static_cast<Real>(k.m1), lr = static_cast<Real>(k.lr);
  const auto epsilon = static_cast<Real>(k.c.epsilon);
  const Real decay = static_cast<Real>(k.c.decay) * static_cast<Real>(k.w);
  const Real step = m0 / c1 / (std::sqrt(m1 / c2) + epsilon), right = lr * (step + (k.decoupled ? decay : 0));
  judge.expect(close(yours, right, lr * (std::fabs(step) + std::fabs(decay))), [&] {
    const auto is = [&](Real other_step) {
      return close(yours, lr * (other_step + (k.decoupled ? decay : 0)));
    };
    std::string why = "Your code gives a wrong update: step is (m0 / c1) / (sqrt(m1 / c2) + epsilon).";
    if (is(m0 / c1 / std::sqrt(m1 / c2 + epsilon)))
      why = "Your code has epsilon inside the root. There 1e-8 acts like its root, 1e-4.";
    else if (is(m0 / (std::sqrt(m1) + epsilon)))
      why = "Your code leaves out the bias correction: both means began at 0.";
    else if (is(m0 / c1 / (std::sqrt(m1) + epsilon)))
      why = "Your code leaves out the bias correction of m1.";
    else if (is(m0 / (std::sqrt(m1 / c2) + epsilon)))
      why = "Your code leaves out the bias correction of m0.";
    else if (is(m0 / c1 / (std::sqrt(m1) / c2 + epsilon)))
      why = "Your code corrects the root of m1; m1 is corrected before its root is taken.";
    else if (is(m0 / c2 / (std::sqrt(m1 / c1) + epsilon)))
      why = "Your code mixes up the corrections.";
    else if (is(m0 / c1 / std::sqrt(m1 / c2)))
      why = "Your code leaves out epsilon: if all gradients of a weight were 0, the step is 0 / 0.";
    else if (is(m0 / c1 / (m1 / c2 + epsilon)))
      why = "Your code leaves out the root.";
    else if (k.decoupled && close(yours, lr * step))
      why = "Your code leaves out the weight decay. AdamW: the update includes lr weight_decay w.";
    else if (k.decoupled && close(yours, lr * step + decay))
      why = "Your code adds the weight decay without the learning rate. AdamW: add lr weight_decay w.";
    else if (!k.decoupled && close(yours, lr * (step + decay)))
      why = "Your code adds the weight decay a second time. Adam: the means include the decay already.";
    else if (close(yours, right / lr))
      why = "Your code leaves out the learning rate.";
    return why + lines(k, "update", right, yours);
  });
}

/// First asks for begin and moments, then for update. The second request holds the right corrections. They are also
/// the answers of begin, so the second request must come after the first reply.
void run(Judge& judge, const std::vector<Case>& all) {
  std::vector<Weight> weights;
  for (const Case& k : all)
    weights.push_back(
        {k.c.beta1, k.c.beta2, k.c.epsilon, k.c.decay, k.decoupled ? 1 : 0, k.lr, k.t, k.w, k.g, k.m0, k.m1});
  const std::vector<Begun> begun =
      judge.ask(Message().put(std::uint64_t{0}).put_all(weights)).take_all<Begun>(all.size());
  std::vector<Corrected> corrected;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Case& k = all[i];
    begin(judge, k, begun[i]);
    moments(judge, k, begun[i]);
    corrected.push_back({weights[i], static_cast<float>(correction(k.c.beta1, k.t)),
                         static_cast<float>(correction(k.c.beta2, k.t))});
  }
  const std::vector<float> updates =
      judge.ask(Message().put(std::uint64_t{1}).put_all(corrected)).take_all<float>(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) update(judge, all[i], updates[i]);
}

/// Returns a random number between -1 and 1, times a random power of two: 2^smallest to 2^(largest - 1).
float drawn(Judge& judge, int smallest, int largest) {
  const std::uint64_t dice = judge.draw();
  const int power = smallest + static_cast<int>((dice >> 20) % static_cast<unsigned>(largest - smallest));
  const auto x = static_cast<float>(static_cast<std::int32_t>(dice >> 32)) * 0x1p-31f;
  return x * std::bit_cast<float>(static_cast<std::uint32_t>(127 + power) << 23);
}

}  // namespace

void check(Judge& judge) {
  std::vector<Case> all;
  for (const bool decoupled : {false, true}) {
    const Constants plain, slow{.beta1 = 0.5, .beta2 = 0.99, .epsilon = 1e-3f};
    all.push_back({plain, decoupled, 1, 0.001f, 1, 0.5f, 0.25f, 0.125f});
    all.push_back({plain, decoupled, 1, 0.001f, 1, 1e-6f, 1e-7f, 1e-14f});  // epsilon counts
    all.push_back({plain, decoupled, 2, 1, -3, -0.1f, 0.3f, 0.02f});
    all.push_back({slow, decoupled, 7, 0.1f, 2, 0.1f, -0.3f, 0.5f});
    all.push_back({{.decay = 0.01f}, decoupled, 3, 0.1f, 100, 0.1f, 0.2f, 0.3f});
    all.push_back({plain, decoupled, 3, 0.1f, 0, 0, 0, 0});
    all.push_back({plain, decoupled, 3, 0.1f, 0, 0, 0x1p-122f, 0.5f});
    all.push_back({plain, decoupled, 3, 0.1f, 0, 0, -0x1p-130f, 0.5f});
    for (const std::int64_t t : {1, 2, 3, 10, 100, 1000, 100'000}) {
      all.push_back({plain, decoupled, t, 0.01f, 1, 0.5f, 0.25f, 0.125f});
      all.push_back({slow, decoupled, t, 0.01f, 1, 0.5f, 0.25f, 0.125f});
    }
    for (int i = 0; i < 20'000; ++i) {
      const Constants c{.beta1 = i % 2 == 0 ? 0.9 : 0.8,
                        .beta2 = i % 3 == 0 ? 0.98 : 0.999,
                        .epsilon = i % 5 == 0 ? 1e-4f : 1e-8f,
                        .decay = i % 7 == 0 ? 0.05f : 0};
      const float m1 = std::fabs(drawn(judge, -40, 2));
      all.push_back({c, decoupled, 1 + i % 300, 0.01f, drawn(judge, -6, 3), drawn(judge, -20, 3),
                     drawn(judge, -20, 3), m1});
    }
  }
  run(judge, all);
}

}  // namespace tinymp::exercise
