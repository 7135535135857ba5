#include <fmt/format.h>
#include <lessons/15_many_processes/questions.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/optim/optimizers.h>

// The blocks of a transformer lie in several ranks, and the micro-batches of a step follow one another through them.
namespace tinymp::lab {
namespace {

constexpr std::int64_t context = 64, layers = 4, samples = 16;  // in each step

std::string in_parts(int ranks) { return fmt::format("{} stages", ranks); }

train::Plan plan_of(const Lab& lab, const data::Text& text, const std::string& name, std::uint64_t seed,
                    std::int64_t micro_batches) {
  const nn::TransformerSizes sizes{
      .words = std::ssize(text.vocabulary), .context = context, .layers = layers, .width = 64, .heads = 4};
  return {.question = pipelined,
          .name = name,
          .recipe = recipes::fp16_dynamic,
          .seed = seed,
          .text = train::TextPlan{.text = &text, .context = context},
          .task = train::Task::name_tokens,
          .model =
              [sizes](const Recipe& recipe, Rng& rng) {
                return std::make_unique<nn::Transformer>(nn::Transformer::Kind::decoder, sizes, recipe, rng);
              },
          .optimizer = train::optimizer_of<Adam>({.lr = 0.003f}),
          .optimizer_name = "adam lr=0.003",
          .steps = lab.steps(20, 2),
          .batch = samples / micro_batches,
          .micro_batches = micro_batches};
}

}  // namespace

void ask_pipeline(Lab& lab, const data::Text& text) {
  constexpr std::int64_t micro_batches = 4;
  bool alike = true;
  for (const std::uint64_t seed : lab.seeds()) {
    std::unique_ptr<nn::Model> alone;
    lab.train(plan_of(lab, text, "one process", seed, micro_batches), &alone);
    for (const int ranks : {2, 4}) {
      train::Plan plan = plan_of(lab, text, in_parts(ranks), seed, micro_batches);
      plan.pipeline = true;
      Models models;
      train_on_ranks(lab, std::move(plan), ranks, &models);
      alike = alike && bits_of(*models[0]) == bits_of(*alone);
    }
  }
  lab.verdict(pipelined, alike ? "Yes: every bit of every weight." : "No: their weights differ.");
  lab.claim(alike, "2 and 4 stages end with the weights of one process, bit for bit",
            Lab::Judged::in_smoke_too);
}

void show_bubble(Lab& lab, const data::Text& text) {
  constexpr int ranks = 2;
  lab.say(
      "\nThat decoder in 2 stages, 16 texts in a step: the share of forward and backward that a rank waits");
  lab.say("  micro-batches   on this machine   if all parts took equally long: 1 / (M + 1)");
  for (const std::int64_t count : {1, 2, 4, 8, 16}) {
    train::Plan plan = plan_of(lab, text, in_parts(ranks), lab.options().first_seed, count);
    plan.pipeline = true;
    const train::Run run = train_on_ranks(lab, std::move(plan), ranks, nullptr, Report::no);
    lab.say(fmt::format("  {:>13} {:>15.0f} % {:>17.0f} %", count, 100 * mean(run.waited),
                        100 / (static_cast<double>(count) + 1)));
  }
}

std::unique_ptr<data::Text> characters(Lab& lab) {
  try {
    auto text = std::make_unique<data::Text>(data::load_text(1 << 16, data::TextUnit::character));
    text->validation.resize(2048);
    return text;
  } catch (const MissingError&) {
    if (lab.options().verify && !lab.options().smoke) throw;
    lab.say("\nThe text for the decoder is not here: ./learn data text fetches it.");
    return nullptr;
  }
}

}  // namespace tinymp::lab
