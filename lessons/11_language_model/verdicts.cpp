#include <fmt/format.h>
#include <lessons/11_language_model/questions.h>
#include <algorithm>

namespace tinymp::lab {
namespace {

/// In %, over all seeds and logged steps.
std::vector<double> all_left(const std::vector<Trained>& seeds, double Left::*what) {
  std::vector<double> shares;
  for (const Trained& trained : seeds)
    for (const Left& at : trained.left) shares.push_back(100 * at.*what);
  return shares;
}

std::vector<double> times_fp32(const Lab& lab, const char* name) {
  return ratios(lab.results(survive, name), lab.results(survive, fp32));
}

}  // namespace

void show_left(Lab& lab, const AllTrained& all, const std::string& name) {
  lab.say(fmt::format("\n{}, seed {}: the errors at the logits", name, lab.options().first_seed));
  lab.say("   step   flushed (%)   of the pushes down is left (%)");
  for (const Left& at : all.at(name).front().left) {
    if (at.step > 10 && at.step % 30 != 0) continue;
    lab.say(fmt::format("{:>7} {:>13.2f} {:>32.2f}", at.step, 100 * at.flushed, 100 * at.down_kept));
  }
}

void show_rare(Lab& lab, const AllTrained& all) {
  const std::vector<std::int32_t>& tokens = lab.text(words).validation;
  const auto count = std::ranges::count_if(tokens, [](std::int32_t token) { return token >= rare; });
  lab.say(fmt::format("\nWords that are not among the {} most frequent, seed {} (%)", rare,
                      lab.options().first_seed));
  const auto row = [&](const std::string& who, double share) {
    lab.say(fmt::format("  {:<28} {:>6.1f}", who, 100 * share));
  };
  row("in the validation text", static_cast<double>(count) / static_cast<double>(tokens.size()));
  for (const Contender& contender : contenders(lab))
    row("expected by " + contender.name, all.at(contender.name).front().answers.rare);
}

void claim_errors(Lab& lab, const AllTrained& all) {
  const double flushed = smallest(all_left(all.at(unscaled), &Left::flushed)),
               left = largest(all_left(all.at(unscaled), &Left::down_kept)),
               still = smallest(all_left(all.at(scaled), &Left::down_kept));
  const double allowed = lab.text(words).name == "course" ? 90 : 80;  // its rare words are fewer
  lab.claim(
      flushed >= 90 && left <= allowed,
      fmt::format("S = 1: in every step {} % or more of the errors at the logits are flushed (90 asked), and "
                  "of the pushes down {} % or less is left ({} allowed)",
                  fixed(flushed, 1), fixed(left, 1), allowed),
      Lab::Judged::in_smoke_too);
  lab.claim(still >= 99,
            fmt::format("S = 128: of the pushes down {} % or more is left (99 asked)", fixed(still, 2)),
            Lab::Judged::in_smoke_too);
  const double most = largest(all_left(all.at(scaled), &Left::flushed));
  lab.number("S = 128: flushed at most (%)", most);
}

void claim_perplexity(Lab& lab) {
  const double behind = smallest(times_fp32(lab, unscaled));
  lab.verdict(survive, fmt::format("S = 1 ends at {} times FP32's perplexity or more, S = 128 at {} times or "
                                   "less.",
                                   fixed(behind, 2), fixed(largest(times_fp32(lab, scaled)), 3)));
  lab.claim(behind >= 1.1,
            fmt::format("S = 1: at least {} times FP32's perplexity (1.10 asked)", fixed(behind, 2)));
  for (const char* name : {scaled, dynamic, bf16}) {
    const double most = largest(times_fp32(lab, name));
    const double allowed = name == std::string_view(bf16) ? 1.05 : 1.02;  // BF16 has three bits fewer
    lab.claim(most <= allowed, fmt::format("{}: at most {} times FP32's perplexity ({:.2f} allowed)", name,
                                           fixed(most, 3), allowed));
  }
}

void claim_rare(Lab& lab, const AllTrained& all) {
  std::vector<double> of_one, of_fp32;
  for (const Trained& trained : all.at(unscaled)) of_one.push_back(trained.answers.rare);
  for (const Trained& trained : all.at(fp32)) of_fp32.push_back(trained.answers.rare);
  const double more = smallest(ratios(of_one, of_fp32));
  lab.claim(more >= 1.3, fmt::format("S = 1: rare words are at least {} times as probable as in FP32 (1.30 "
                                     "asked)",
                                     fixed(more, 2)));
}

}  // namespace tinymp::lab
