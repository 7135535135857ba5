// Lesson 12 - Rounding: can sixteen bits train without a master?
//
// BF16 has the range of FP32 and 8 bits. So no gradient needs a loss scale, and a weight absorbs an update below a 512th
// of its size. The fine-tuning of lesson 05 shows it: BF16 weights learn nothing. A master in FP32 is one cure. The other
// two keep no master. Stochastic rounding moves a weight at random, in proportion to the update. Kahan's compensation
// keeps what the rounding lost. Expected: both end where FP32 ends. Toward zero ends elsewhere, and the chapter says why.

#include <fmt/format.h>
#include <lessons/05_master_weights/fine_tuning.h>
#include <lessons/12_rounding/rounding.h>
#include <cmath>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

/// Sum of all |w|: truncation can only make it smaller.
double size_of_weights(const nn::Model& model) {
  double sum = 0;
  for (const Tensor& p : tensors(model.parameters()))
    for (const float w : p.to_floats()) sum += std::abs(static_cast<double>(w));
  return sum;
}

void train_all(Lab& lab) {
  std::map<std::string, std::vector<double>> sizes;
  for (const std::uint64_t seed : lab.seeds()) {
    const auto start = lab.prepare(pretraining_plan(lab, seed));
    for (const Contender& contender : ways_to_round()) {
      std::unique_ptr<nn::Model> trained;
      lab.train(rounding_plan(lab, no_master, contender, seed, *start), &trained);
      sizes[contender.name].push_back(100 * size_of_weights(*trained) / size_of_weights(*start));
    }
    for (const Contender& contender : with_bf16_moments())
      lab.train(rounding_plan(lab, narrow_moments, contender, seed, *start));
  }
  lab.say("\nThe sum of all |w| after fine-tuning, % of that before");
  for (const char* const name : {"FP32", "BF16, stochastic", "BF16, toward zero"}) {
    lab.say(fmt::format("  {:<32} {:>8}", name, fixed(mean(sizes[name]), 1)));
    lab.number(concat(name, ": size of the weights (%)"), mean(sizes[name]));
  }
}

/// `name` ends within `allowed` points of FP32 on every seed.
void claim_as_fp32(Lab& lab, const std::string& name, double allowed) {
  lab.claim_same(no_master, in_fp32, name, concat(name, ": ends as FP32"), allowed);
}

void judge(Lab& lab) {
  const std::vector<double> fp32 = lab.results(no_master, in_fp32);
  const auto below = [&](const std::string& name) { return differences(fp32, lab.results(no_master, name)); };
  lab.verdict(
      no_master,
      fmt::format("BF16 weights rounded to nearest end {} points below FP32. Stochastic rounding ends {} "
                  "points from FP32 and Kahan's compensation {}.",
                  fixed(mean(below(bf16_nearest)), 1),
                  fixed(largest_gap(fp32, lab.results(no_master, bf16_random)), 2),
                  fixed(largest_gap(fp32, lab.results(no_master, bf16_kahan)), 2)));
  const double asked = lab.is_cut() ? 10 : 25;
  lab.claim(smallest(below(bf16_nearest)) >= asked,
            fmt::format("BF16 weights end at least {} points below FP32 ({} asked)",
                        fixed(smallest(below(bf16_nearest)), 1), asked));
  claim_as_fp32(lab, bf16_master, 1);
  claim_as_fp32(lab, bf16_random, 1);
  claim_as_fp32(lab, bf16_kahan, 1);
  claim_as_fp32(lab, fp16_random, 1);
  claim_as_fp32(lab, fp16_master_random, 1);
  const std::vector<double> mended =
      differences(lab.results(no_master, fp16_nearest), lab.results(no_master, bf16_nearest));
  lab.claim(smallest(mended) >= 10,
            fmt::format("FP16 weights end at least {} points above BF16 weights (10 asked)",
                        fixed(smallest(mended), 1)));
  const double above = -largest(below(bf16_zero));
  lab.claim(above >= 5,
            fmt::format("toward zero ends at least {} points above FP32 (5 asked)", fixed(above, 1)));
  for (const Contender& c : with_bf16_moments()) {
    const std::vector<double> lost =
        differences(lab.results(no_master, c.name), lab.results(narrow_moments, c.name));
    lab.number(c.name + ": points lost with BF16 moments", mean(lost));
    lab.say(
        fmt::format("  {}: BF16 moments cost {} points", c.name, range(smallest(lost), largest(lost), 2)));
  }
}

void experiment(Lab& lab) {
  show_numbers(lab);
  show_one_weight(lab);
  show_random_words(lab);
  show_bytes(lab);
  train_all(lab);
  judge(lab);
  ask_about_range(lab);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "12_rounding", experiment); }
