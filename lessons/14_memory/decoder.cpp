#include <fmt/format.h>
#include <lessons/14_memory/by_hand.h>
#include <lessons/14_memory/questions.h>
#include <tinymp/base/error.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

using nn::Transformer;

const std::string fp16 = "FP16, dynamic S", autocast = "autocast, dynamic S", eight = "fp8_hybrid";

nn::TransformerSizes sizes_of(const data::Text& text) {
  return {.words = std::ssize(text.vocabulary),
          .context = context,
          .layers = decoder_layers,
          .width = decoder_width,
          .heads = 4};
}

train::Plan decoder_plan(const Lab& lab, const data::Text& text, const std::string& question,
                         const Contender& contender, std::uint64_t seed) {
  return {.question = question,
          .name = contender.name,
          .recipe = contender.recipe,
          .seed = seed,
          .text = train::TextPlan{.text = &text, .context = context},
          .task = train::Task::name_tokens,
          .model =
              [sizes = sizes_of(text)](const Recipe& recipe, Rng& rng) {
                return std::make_unique<Transformer>(Transformer::Kind::decoder, sizes, recipe, rng);
              },
          .optimizer = train::optimizer_of<Adam>({.lr = 2e-3f}),
          .optimizer_name = "adam lr=0.002 cosine",
          .schedule = ScheduleKind::cosine,
          .warmup = lab.steps(30, 1),
          .steps = lab.steps(300, 4),
          .batch = 8};
}

std::vector<Contender> contenders() {
  Recipe cast = recipes::o1;
  cast.scaling = moving_scale;
  return {{in_fp32, recipes::fp32}, {fp16, fp16_moving()}, {autocast, cast}, {eight, recipes::fp8_hybrid}};
}

struct Written {
  std::string name;
  Recipe recipe;
  ByHand how;
};

const std::string hand_fp32 = "FP32, by hand", hand_fp16 = "FP16, by hand",
                  product = "FP16, mask as a product", nothing_seen = "FP16, a row that sees nothing",
                  no_maximum = "FP16, maximum not subtracted", no_skips = "... and S = 128, skipping nothing",
                  no_root = "FP16, scores not divided", narrow_sum = "FP16, softmax summed in FP16";

std::vector<Written> written(const Lab& lab) {
  using Mask = ByHand::Mask;
  const ByHand sound{.mask = lab.sabotaged("mask") ? Mask::as_product : Mask::added};
  const Recipe f16 = fp16_moving();
  Recipe without_skips = f16;
  without_skips.scaling = StaticScaling{128};
  return {{hand_fp32, recipes::fp32, {}},
          {hand_fp16, f16, sound},
          {product, f16, {.mask = Mask::as_product}},
          {nothing_seen, f16, {.mask = Mask::own_too}},
          {no_maximum, f16, {.softmax = ByHand::Softmax::no_maximum}},
          {no_skips, without_skips, {.softmax = ByHand::Softmax::no_maximum}},
          {no_root, f16, {.root = false}},
          {narrow_sum, f16, {.softmax = ByHand::Softmax::fp16_sum}}};
}

/// The largest |a / b - 1| of a seed, in percent.
double percent_apart(const Lab& lab, const std::string& question, const std::string& a,
                     const std::string& b) {
  double most = 0;
  for (const double ratio : ratios(lab.results(question, a), lab.results(question, b))) {
    const double apart = 100 * std::abs(ratio - 1);
    if (!(apart <= most)) most = apart;  // NaN, too
    if (std::isnan(most)) break;
  }
  return most;
}

void claim_ends_as(Lab& lab, const std::string& question, const std::string& a, const std::string& b,
                   double allowed) {
  const double percent = percent_apart(lab, question, a, b);
  lab.claim(percent <= allowed, fmt::format("{}: ends within {} % of the loss of {} ({} allowed)", a,
                                            fixed(percent, 2), b, allowed));
}

}  // namespace

std::unique_ptr<data::Text> characters(Lab& lab) {
  try {
    auto text = std::make_unique<data::Text>(data::load_text(1 << 16, data::TextUnit::character));
    text->validation.resize(lab.options().smoke ? 2048 : 16384);  // enough to compare runs in pairs
    return text;
  } catch (const MissingError&) {
    if (lab.options().full || (lab.options().verify && !lab.options().smoke)) throw;
    lab.say("\nThe text for the decoder is not here: ./learn data text fetches it.");
    if (lab.sabotaged("mask")) lab.say(not_tried + "mask");
    return nullptr;
  }
}

void ask_parity(Lab& lab, const data::Text& text) {
  const bool full = lab.options().full;
  const std::string& question = full ? long_parity : parity;
  for (const std::uint64_t seed : lab.seeds())
    for (const Contender& contender : contenders()) {
      train::Plan plan = decoder_plan(lab, text, question, contender, seed);
      if (full) plan.steps = lab.steps(3000, 8), plan.warmup = lab.steps(100, 2);
      lab.train(std::move(plan));
    }
  lab.verdict(question,
              fmt::format("FP16 ends within {} % of FP32's loss, autocast within {} %, FP8 within {} %.",
                          fixed(percent_apart(lab, question, fp16, in_fp32), 2),
                          fixed(percent_apart(lab, question, autocast, in_fp32), 2),
                          fixed(percent_apart(lab, question, eight, in_fp32), 2)));
  claim_ends_as(lab, question, fp16, in_fp32, 1);
  claim_ends_as(lab, question, autocast, in_fp32, 1);
  claim_ends_as(lab, question, eight, in_fp32, 3);
}

void ask_by_hand(Lab& lab, const data::Text& text) {
  for (const std::uint64_t seed : lab.seeds())
    for (const Written& one : written(lab)) {
      train::Plan plan = decoder_plan(lab, text, by_hand, {one.name, one.recipe}, seed);
      plan.batch = 4;
      if (one.how.mask != ByHand::Mask::added) plan.steps = lab.steps(30, 4);
      nn::TransformerSizes sizes = sizes_of(text);
      sizes.heads = 2;
      plan.model = [sizes, how = one.how](const Recipe& recipe, Rng& rng) {
        return std::make_unique<DecoderByHand>(sizes, how, recipe, rng);
      };
      lab.train(std::move(plan));
    }
  for (const std::string& name : {product, nothing_seen, no_skips}) {
    const std::vector<const train::Run*> runs = lab.runs(by_hand, name);
    const auto broken =
        std::ranges::find_if(runs, [](const train::Run* run) { return !run->findings.empty(); });
    if (broken != runs.end()) lab.say_findings(name, **broken);
  }
  lab.claim(!std::isnan(mean(lab.results(by_hand, hand_fp16))), "attention by hand: FP16 ends without NaN",
            Lab::Judged::in_smoke_too);
  claim_ends_as(lab, by_hand, hand_fp16, hand_fp32, 1);
  lab.claim_nan(by_hand, product, product);
  lab.claim_nan(by_hand, nothing_seen, nothing_seen);
  claim_ends_as(lab, by_hand, no_root, hand_fp32, 5);
  claim_ends_as(lab, by_hand, narrow_sum, hand_fp32, 1);
  lab.verdict_on_nan(
      by_hand, {hand_fp32, hand_fp16, product, nothing_seen, no_maximum, no_skips, no_root, narrow_sum});
}

}  // namespace tinymp::lab
