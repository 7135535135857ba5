#include <fmt/format.h>
#include <lessons/05_master_weights/small_updates.h>
#include <lessons/lab/report/number.h>
#include <cmath>

namespace tinymp::lab {

SmallUpdates measured_small_updates(const Lab& lab) {
  const auto lost = [](const train::LogRecord& step) { return step.underflowed + step.absorbed; };
  return {.fp32 = lab.results(small_updates, "FP32"),
          .fp16_weights = lab.results(small_updates, "FP16 weights"),
          .fp16_master = lab.results(small_updates, "FP16 + FP32 master"),
          .lost = mean(lab.logged(small_updates, "FP16 weights", lost))};
}

std::string verdict_on(const SmallUpdates& measured) {
  if (measured.fp32.empty() || measured.fp16_weights.empty()) return "Not measured.";
  const double fp32 = mean(measured.fp32), weights = mean(measured.fp16_weights), gap = fp32 - weights;
  if (std::isnan(fp32)) return "No answer: FP32 itself ended in NaN.";
  constexpr double fails = 5, unharmed = 1, restored = 0.5;  // points of accuracy below FP32
  const bool harmed = !(gap <= unharmed);                    // true if gap is NaN, too
  const std::string seeds = on_some_seeds(differences(measured.fp32, measured.fp16_weights), fails,
                                          "by 5 points or more"),
                    lost = std::isnan(measured.lost) ? ""
                                                     : fmt::format("; {} of the updates moved nothing",
                                                                   report::percent(measured.lost));
  const std::string first =
      std::isnan(gap) ? fmt::format("No: with FP16 weights fine-tuning ends in NaN{}.", seeds)
      : !harmed ? fmt::format("Yes, here: FP16 weights reach {:.1f} %, FP32 {:.1f} %{}{}.", weights, fp32,
                              seeds, lost)
                : fmt::format("{} {:.1f} %, {:.1f} points below FP32's {:.1f} %{}{}.",
                              gap >= fails ? "No: with FP16 weights fine-tuning stalls at"
                                           : "In part: FP16 weights reach",
                              weights, gap, fp32, seeds, lost);
  if (measured.fp16_master.empty()) return first;
  const double master = mean(measured.fp16_master);
  const char* effect = fp32 - master <= restored ? (harmed ? "restores the accuracy" : "does no harm")
                       : master > weights || (std::isnan(weights) && !std::isnan(master))
                           ? "restores a part of the accuracy"
                           : "does not help";
  return fmt::format("{} An FP32 master copy of the weights {}: {}.", first, effect,
                     std::isnan(master) ? "NaN" : fixed(master, 1) + " %");
}

}  // namespace tinymp::lab
