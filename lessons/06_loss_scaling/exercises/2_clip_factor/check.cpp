// Exercise 6.2: norms of every size, also infinity and NaN. The oracle finds the root by halving an interval.

#include <lessons/06_loss_scaling/exercises/2_clip_factor/clip.h>
#include <lessons/lab/classroom/judge.h>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

using Real = long double;

/// The root of a finite x >= 0. Doubles `high` until its square is at least x. Then halves the interval from `low`
/// to `high` until no number lies between them, at most 1200 times.
Real root(Real x) {
  Real low = 0, high = 1;
  while (high * high < x) high *= 2;
  for (int i = 0; i < 1200 && low < high; ++i) {
    const Real middle = (low + high) / 2;
    if (middle == low || middle == high) break;
    (middle * middle <= x ? low : high) = middle;
  }
  return low;
}

bool near(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (std::isinf(b)) return a == b;
  return a == b || std::fabs(static_cast<double>(a) - static_cast<double>(b)) <=
                       1.2e-7 * std::fabs(static_cast<double>(b)) + 0x1p-149;
}
bool near(const Clipped& a, const Clipped& b) { return near(a.norm, b.norm) && near(a.factor, b.factor); }

Clipped right_of(double squares, float max_norm, float factor) {
  if (!(squares <= 1.7976931348623157e308)) return {static_cast<float>(squares), factor};
  const Real norm = root(static_cast<Real>(squares)), limit = static_cast<Real>(max_norm);
  const Real allowed = norm + 1e-6L;
  const auto shown = static_cast<float>(norm);
  if (limit >= allowed) return {shown, factor};
  return {shown, static_cast<float>(static_cast<Real>(factor) * limit / allowed)};
}

std::string why(double squares, float max_norm, float factor, const Clipped& right, const Clipped& yours) {
  const double norm = std::sqrt(squares), limit = static_cast<double>(max_norm),
               f = static_cast<double>(factor);
  const auto is = [&](double other) { return near(yours.factor, static_cast<float>(other)); };
  if (near(yours.norm, static_cast<float>(squares)) && !near(right.norm, yours.norm))
    return "Your code gives the sum of squares; the norm is its root.";
  if (near(yours.norm, max_norm) && !near(yours.norm, right.norm))
    return "Your code returns a wrong norm: return the norm from before clipping.";
  if (!near(yours.norm, right.norm)) return "Your code gives a wrong norm: it is the root of the sum.";
  if (!(norm - norm == 0))
    return "Your code changes the factor for a norm that is not finite. Such a norm says nothing about the "
           "true gradients.";
  if (right.factor == factor)
    return "Your code clips although the norm is not too large: clipping never makes gradients larger.";
  if (is(f))
    return std::isinf(right.norm) ? "Your code leaves the factor as it was for a norm beyond the largest "
                                    "float. In double this norm is finite: compute the factor in double."
                                  : "Your code leaves the factor as it was, but the norm is too large.";
  if (is(limit / (norm + 1e-6))) return "Your code replaces the factor: multiply the old factor, 1 / S.";
  if (is(limit)) return "Your code stores max_norm as the factor: divide max_norm by the norm.";
  if (is(f * limit / norm))
    return "Your code leaves out 1e-6: shrink = max_norm / (norm + 1e-6). The 1e-6 prevents a division by 0.";
  if (is(f * limit / squares)) return "Your code divides by the sum of squares: divide by its root.";
  if (is(f * static_cast<double>(static_cast<float>(limit / (norm + 1e-6)))))
    return "Your code rounds shrink to a float: compute in double, and round only the new factor.";
  return "Your code gives a wrong factor: it is factor * max_norm / (norm + 1e-6).";
}

std::string shown(const Clipped& c) { return "norm " + decimal(c.norm) + ", factor " + decimal(c.factor); }

void clip(Judge& judge, const std::vector<Unclipped>& all) {
  const std::vector<Clipped> answers = judge.ask_each<Clipped>(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto [squares, max_norm, factor] = all[i];
    const Clipped right = right_of(squares, max_norm, factor), yours = answers[i];
    judge.expect(near(yours, right), [&, squares = squares, max_norm = max_norm, factor = factor] {
      char text[40];
      std::snprintf(text, sizeof text, "%.6g", squares);
      return why(squares, max_norm, factor, right, yours) + "\n  sum of squares " + text + ", max_norm " +
             decimal(max_norm) + ", factor before " + decimal(factor) + "\n  expected = " + shown(right) +
             "\n  yours    = " + shown(yours);
    });
  }
}

double drawn(Judge& judge, int powers) {
  const auto x = 1 + static_cast<double>(judge.draw() >> 40) * 0x1p-24;
  return std::ldexp(x, static_cast<int>(judge.draw_below(2 * powers)) - powers);
}

}  // namespace

void check(Judge& judge) {
  clip(judge, {{25, 2, 0x1p-10f},
               {25, 10, 0x1p-10f},
               {25, 5, 1},
               {25, 5.001f, 0.3f},
               {1e-12, 1e-6f, 1},  // here 1e-6 counts: norm and limit are of its size
               {4e-12, 1e-6f, 3},
               {0, 1, 0.7f},
               {0, 1e-7f, 0.7f},
               {1e80, 1, 1e10f},
               {1e77, 1, 1},
               {1e308, 3e38f, 1e-3f},
               {static_cast<double>(INFINITY), 1, 0.25f},
               {static_cast<double>(NAN), 1, 0.25f}});
  std::vector<Unclipped> all;
  for (int i = 0; i < 100'000; ++i) {
    const double squares = drawn(judge, 80);
    const auto factor = static_cast<float>(drawn(judge, 20)), max_norm = static_cast<float>(drawn(judge, 30));
    all.push_back({squares, max_norm, factor});
  }
  clip(judge, all);
}

}  // namespace tinymp::exercise
