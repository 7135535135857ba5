// Exercise 6.1: gradients that are multiplied by S, in FP16, BF16 and FP32. The oracle adds up the squares in long
// double, one after the other.

#include <kernels/step.h>
#include <lessons/lab/classroom/judge.h>
#include <lessons/lab/classroom/tensors.h>
#include <bit>
#include <cmath>
#include <vector>

namespace tinymp::exercise {
namespace {

using kernels::GradientCounts;
using enum DType;
using Floats = std::vector<float>;

struct Trial {
  DType format;
  float scale, max_norm;
  Floats scaled;  ///< the gradients as backward leaves them
};

std::string shown(const Floats& values) {
  std::string text;
  for (std::size_t i = 0; i < values.size() && i < 4; ++i) text += (i > 0 ? ", " : "") + decimal(values[i]);
  return text + (values.size() > 4 ? ", ... (" + std::to_string(values.size()) + ")" : "");
}

std::string lines(const Trial& t, const std::string& expected, const std::string& yours) {
  return "\n  gradients = " + shown(t.scaled) + " in " + std::string(name_of(t.format)) +
         ", S = " + decimal(t.scale) + "\n  expected = " + expected + "\n  yours    = " + yours;
}

void expect_same_gradients(Judge& judge, const Trial& t, const Floats& before, const Floats& now,
                           const char* function) {
  for (std::size_t i = 0; i < now.size(); ++i) {
    judge.expect(std::bit_cast<std::uint32_t>(now[i]) == std::bit_cast<std::uint32_t>(before[i]), [&] {
      return "Your " + std::string(function) +
             " changes the gradients where they lie. In FP16 small gradients then become 0 again. Change "
             "only the factor: the optimizer multiplies by the factor in FP32." +
             lines(t, decimal(before[i]) + " as before", decimal(now[i]));
    });
  }
}

std::string counts(const GradientCounts& c) {
  return std::to_string(c.values) + " values, " + std::to_string(c.nonfinite) + " not finite, " +
         std::to_string(c.zeros) + " zero, " + std::to_string(c.subnormals) + " subnormal";
}

GradientCounts counted(const Tensor& x) {
  const float normal = x.dtype() == f16 ? 0x1p-14f : 0x1p-126f;
  GradientCounts c;
  for (const float v : x.to_floats()) {
    ++c.values;
    c.nonfinite += !std::isfinite(v);
    c.zeros += v == 0;
    c.subnormals += v != 0 && std::fabs(v) < normal;
  }
  return c;
}

/// A request: which function to call, and the gradients in their format.
Message request_with(const Tensor& x, bool clips) {
  Message request;
  put_tensor(request.put(clips ? 1 : 0), x);
  return request;
}

float unscaled(Judge& judge, const Trial& t, const Tensor& x) {
  Message reply = judge.ask(request_with(x, false).put(t.scale), [&] {
    return "  in unscale, " + std::to_string(t.scaled.size()) + " gradients";
  });
  const auto factor = reply.take<float>();
  const auto found = reply.take<GradientCounts>();
  expect_same_gradients(judge, t, x.to_floats(), reply.take_all<float>(t.scaled.size()), "unscale");
  const auto right = static_cast<float>(1 / static_cast<double>(t.scale));
  judge.expect(factor == right, [&] {
    return std::string(
               factor == 1
                   ? "Your unscale leaves the factor at 1: the optimizer's step would be S times too long."
               : factor == t.scale
                   ? "Your unscale gives S as the factor, which multiplies by S a second time."
                   : "Your unscale gives a wrong factor: compute 1 / S in double, and round it once.") +
           lines(t, "factor " + decimal(right), "factor " + decimal(factor));
  });
  const GradientCounts true_counts = counted(x);
  judge.expect(found.values == true_counts.values && found.nonfinite == true_counts.nonfinite &&
                   found.zeros == true_counts.zeros && found.subnormals == true_counts.subnormals,
               [&] {
                 return "Your unscale stores wrong counts: store scan(gradients), before any gradient "
                        "changes. The counts decide whether the step is taken." +
                        lines(t, counts(true_counts), counts(found));
               });
  return factor;
}

bool near(double a, double b) {
  return a == b || (std::isfinite(b) && std::fabs(a - b) <= 1e-6 * std::fabs(b));
}

/// The results of clipped(). `norm` is the root of the sum of (v * by)^2 over the values v. `factor` is the given
/// factor, made smaller if the norm is too large.
struct Clipped {
  double norm, factor;
};
Clipped clipped(const Floats& values, float factor, float by, float max_norm) {
  long double sum = 0;
  for (const float v : values) sum += static_cast<long double>(v * by) * static_cast<long double>(v * by);
  const double norm = static_cast<double>(std::sqrt(sum)), shrink = max_norm / (norm + 1e-6);
  return {norm, std::isfinite(norm) && shrink < 1 ? factor * shrink : factor};
}

std::string why(const Trial& t, const Floats& values, float factor, float norm, float yours) {
  const Clipped right = clipped(values, factor, factor, t.max_norm);
  const Clipped scaled = clipped(values, factor, 1, t.max_norm);
  if (near(norm, scaled.norm))
    return "Your clip takes the norm of gradients that are multiplied by S. But max_norm limits the true "
           "gradients: unscale first, then clip.";
  if (std::isinf(norm) && std::isfinite(right.norm))
    return "Your clip computes squares beyond the largest float: square and add up in double.";
  if (near(norm, right.norm * right.norm)) return "Your clip gives the square of the norm.";
  if (near(norm, right.norm) && near(yours, factor))
    return "Your clip finds a norm that is too large, but leaves the factor as it was.";
  if (near(norm, right.norm) && near(yours, right.factor / factor))
    return "Your clip replaces 1 / S by a new factor: multiply the old factor.";
  if (near(norm, right.norm)) return "Your clip gives the right norm, but a wrong factor.";
  return "Your clip gives a wrong norm: take the norm of gradient * factor, over all gradients.";
}

void run(Judge& judge, const Trial& t) {
  const Shape shape{static_cast<std::int64_t>(t.scaled.size())};
  const Tensor x = Tensor::from(shape, t.scaled, t.format);
  const float factor = unscaled(judge, t, x);
  Message reply = judge.ask(request_with(x, true).put(factor).put(t.max_norm),
                            [&] { return "  in clip, " + std::to_string(t.scaled.size()) + " gradients"; });
  const auto yours = reply.take<float>(), found = reply.take<float>();
  const Floats values = x.to_floats();
  expect_same_gradients(judge, t, values, reply.take_all<float>(values.size()), "clip");
  const Clipped right = clipped(values, factor, factor, t.max_norm);
  const auto right_norm = static_cast<float>(right.norm);
  const bool norm_right = std::isnan(right_norm) ? std::isnan(found) : near(found, right_norm);
  judge.expect(norm_right && near(yours, static_cast<float>(right.factor)), [&] {
    return why(t, values, factor, found, yours) +
           lines(t,
                 "norm " + decimal(right_norm) + ", for max_norm " + decimal(t.max_norm) + " the factor " +
                     decimal(static_cast<float>(right.factor)),
                 "norm " + decimal(found) + ", factor " + decimal(yours));
  });
}

float drawn(Judge& judge) {
  if (judge.draw_below(9) == 0) return 0;
  const auto x = static_cast<float>(static_cast<std::int32_t>(judge.draw() >> 32)) * 0x1p-31f;
  return std::ldexp(x, -static_cast<int>(judge.draw_below(20)));
}

}  // namespace

void check(Judge& judge) {
  const float infinity = INFINITY;
  run(judge, {f16, 1024, 1000, {0x1p-15f}});
  run(judge, {f16, 1024, 1, {3072, 4096}});
  run(judge, {f16, 1024, 5.5f, {3072, 4096}});
  run(judge, {f32, 3, 0.1f, {1, -2, 2}});
  run(judge, {f32, 7, 0.1f, {-0.0f, 0, 0x1p-140f, 1}});
  run(judge, {f32, 1, 2, {0x1p100f, -0x1p100f}});
  run(judge,
      {f32, 1, 2, {0x1.8p127f, 0x1.8p127f, 0x1.8p127f}});  // the norm is beyond float, not beyond double
  run(judge, {f32, 0x1p20f, 1, {0x1p-140f, 0x1p-130f}});   // the products are subnormal, or 0
  run(judge, {f16, 65536, 1, {1, infinity, 2}});
  run(judge, {bf16, 65536, 1, {1, NAN, -infinity, 0}});
  run(judge, {f32, 1000, 1, {}});
  for (const DType format : {f16, bf16, f32}) {
    for (const std::size_t n : {15u, 17u, 1023u, 1024u, 1025u, 9001u, 40'000u}) {
      for (const float max_norm : {0.01f, 1000.0f}) {
        Floats values(n);
        for (float& v : values) v = drawn(judge);
        values.back() = 800;  // code that leaves out the end gives a wrong norm
        run(judge, {format, format == bf16 ? 1000.0f : 1024.0f, max_norm, values});
      }
    }
  }
}

}  // namespace tinymp::exercise
