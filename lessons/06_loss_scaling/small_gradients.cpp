#include <fmt/format.h>
#include <lessons/06_loss_scaling/small_gradients.h>
#include <lessons/lab/report/number.h>
#include <cmath>

namespace tinymp::lab {

SmallGradients measured_small_gradients(const Lab& lab) {
  return {.fp32 = lab.results(small_gradients, "FP32"),
          .unscaled = lab.results(small_gradients, "FP16, S = 1"),
          .static_scaled = lab.results(small_gradients, "FP16, static S = 1024"),
          .dynamic_scaled = lab.results(small_gradients, "FP16, dynamic S"),
          .flushed = mean(lab.logged(small_gradients, "FP16, S = 1", &train::LogRecord::flushed))};
}

std::string verdict_on(const SmallGradients& measured) {
  if (measured.fp32.empty() || measured.unscaled.empty()) return "Not measured.";
  const double fp32 = mean(measured.fp32), unscaled = mean(measured.unscaled), times = unscaled / fp32;
  if (std::isnan(fp32)) return "No answer: FP32 itself ended in NaN.";
  constexpr double fails = 1.15, unharmed = 1.05;  // times FP32's MSE
  const bool harmed = !(times <= unharmed);        // true if times is NaN, too
  const std::string seeds = on_some_seeds(ratios(measured.unscaled, measured.fp32), fails, "15 % or more"),
                    flushed = std::isnan(measured.flushed)
                                  ? ""
                                  : fmt::format("; {} of the gradients were flushed to zero",
                                                report::percent(measured.flushed));
  const char* answer = times >= fails ? "No: at S = 1 the error stays at"
                       : harmed       ? "In part: at S = 1 the error is"
                                      : "Yes, here: at S = 1 the error is";
  const std::string first = std::isnan(times)
                                ? fmt::format("No: at S = 1 training ends in NaN{}.", seeds)
                                : fmt::format("{} {:.4f}, {} {} FP32's {:.4f}{}{}.", answer, unscaled,
                                              report::percent(std::abs(times - 1)),
                                              times < 1 ? "below" : "above", fp32, seeds, flushed);
  if (measured.static_scaled.empty() || measured.dynamic_scaled.empty()) return first;
  const double constant = mean(measured.static_scaled), dynamic = mean(measured.dynamic_scaled);
  const bool as_fp32 = constant / fp32 <= unharmed && dynamic / fp32 <= unharmed;
  const char* scaling = harmed ? (as_fp32 ? "Loss scaling restores the gradients"
                                          : "Loss scaling does not always restore the gradients")
                               : (as_fp32 ? "Loss scaling does no harm" : "Loss scaling does harm here");
  return fmt::format("{} {}; the error is {} with S = {:.0f} and {} with dynamic S.", first, scaling,
                     fixed(constant, 4), static_scale, fixed(dynamic, 4));
}

}  // namespace tinymp::lab
