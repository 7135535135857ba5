#include <fmt/format.h>
#include <lessons/06_loss_scaling/autoencoder.h>
#include <lessons/12_rounding/rounding.h>

namespace tinymp::lab {
namespace {

const std::string bf16_one = "BF16, S = 1", fp16_one = "FP16, S = 1";

}  // namespace

void ask_about_range(Lab& lab) {
  const std::vector<Contender> contenders = {
      {in_fp32, recipes::fp32}, {fp16_one, recipes::fp16_master}, {bf16_one, recipes::bf16}};
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : contenders) {
      train::Plan plan = autoencoder_plan(lab, contender, seed);
      plan.question = needs_scale;
      lab.train(plan);
    }
  }
  const std::vector<double> fp32 = lab.results(needs_scale, in_fp32);
  const std::vector<double> fp16 = ratios(lab.results(needs_scale, fp16_one), fp32),
                            bf16 = ratios(lab.results(needs_scale, bf16_one), fp32);
  lab.verdict(needs_scale, fmt::format("At S = 1 BF16 ends at {} times FP32's error, FP16 at {} times.",
                                       fixed(mean(bf16), 3), fixed(mean(fp16), 2)));
  const double asked = lab.is_cut() ? 1.15 : 1.3;
  lab.claim(largest(bf16) <= 1.05,
            fmt::format("BF16 without a loss scale: at most {} times FP32's error (1.05 "
                        "allowed)",
                        fixed(largest(bf16), 3)));
  lab.claim(smallest(fp16) >= asked,
            fmt::format("FP16 without a loss scale: at least {} times FP32's error ({} asked)",
                        fixed(smallest(fp16), 2), asked));
}

}  // namespace tinymp::lab
