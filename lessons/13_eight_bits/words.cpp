#include <fmt/format.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <lessons/13_eight_bits/words.h>

namespace tinymp::lab {
namespace {

const std::string one = "E5M2, S = 1", of_paper_one = "fp8_e5m2, S = 1", constant = "E5M2, S = 1024",
                  moving = "E5M2, dynamic S", rising = "E5M2, enhanced S";

std::vector<Contender> contenders() {
  const EnhancedScaling with_floor{.dynamic = moving_scale, .floor = {.at = {{1, 1024}}, .count = 1}};
  Recipe exempt = recipes::fp8_e5m2;
  exempt.scaling = NoScaling{};
  return {{in_fp32, recipes::fp32},
          {one, e5m2_everywhere(NoScaling{})},
          {of_paper_one, exempt},
          {constant, e5m2_everywhere(StaticScaling{1024})},
          {moving, e5m2_everywhere(moving_scale)},
          {rising, e5m2_everywhere(with_floor)}};
}

}  // namespace

void ask_words(Lab& lab) {
  const std::unique_ptr<data::Text> text = text_of_words(lab);
  if (text == nullptr) return;
  for (const std::uint64_t seed : lab.seeds())
    for (const Contender& contender : contenders()) train_words(lab, *text, word_model, contender, seed);
  const std::vector<double> fp32 = lab.results(word_model, in_fp32);
  const auto times = [&](const std::string& name) { return ratios(lab.results(word_model, name), fp32); };
  lab.verdict(word_model, fmt::format("E5M2 at S = 1 ends at {} times FP32's perplexity or more, at S = 1024 "
                                      "at {} or less.",
                                      fixed(smallest(times(one)), 2), fixed(largest(times(constant)), 3)));
  lab.claim(smallest(times(one)) >= 1.1,
            fmt::format("word model in E5M2, S = 1: at least {} times FP32's perplexity (1.1 asked)",
                        fixed(smallest(times(one)), 2)));
  for (const std::string& name : {constant, moving, rising})
    lab.claim(largest(times(name)) <= 1.1, fmt::format("... {}: at most {} times (1.1 allowed)", name,
                                                       fixed(largest(times(name)), 3)));
}

}  // namespace tinymp::lab
