#include <fmt/format.h>
#include <lessons/15_many_processes/questions.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/optim/optimizers.h>

// The blocks of a transformer lie in several ranks, and the micro-batches of a step follow one another through them.
namespace tinymp::lab {
namespace {

constexpr std::int64_t context = 64, layers = 4, samples = 16;  // in each step

std::string in_parts(int ranks, std::int64_t micro_batches) {
  return fmt::format("{} stages, {} micro-batches", ranks, micro_batches);
}
std::string alone(std::int64_t micro_batches) {
  return fmt::format("one process, {} micro-batches", micro_batches);
}

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
  struct Row {
    int ranks;
    std::int64_t micro_batches;
    std::vector<double> waited{};  ///< means over the ranks, seed by seed
  };
  std::vector<Row> rows{{2, 1}, {2, 2}, {2, 4}, {2, 8}, {2, 16}, {4, 4}};
  bool alike = true;
  for (const std::uint64_t seed : lab.seeds())
    for (Row& row : rows) {
      std::unique_ptr<nn::Model> model;
      lab.train(plan_of(lab, text, alone(row.micro_batches), seed, row.micro_batches), &model);
      train::Plan plan = plan_of(lab, text, in_parts(row.ranks, row.micro_batches), seed, row.micro_batches);
      plan.pipeline = true;
      Models models;
      const train::Run run = train_on_ranks(lab, std::move(plan), row.ranks, &models);
      row.waited.push_back(100 * mean(run.waited));
      alike = alike && bits_of(*models[0]) == bits_of(*model);
    }
  lab.say("\nA decoder of 4 blocks, 16 texts in a step: the share of forward and backward that a rank waits");
  lab.say("  stages  micro-batches   waited (on this machine)   (P - 1) / (M + P - 1)");
  for (const Row& row : rows) {
    const auto p = static_cast<double>(row.ranks - 1);
    lab.say(fmt::format("  {:>6} {:>14} {:>23} % {:>22.0f} %", row.ranks, row.micro_batches,
                        spread(row.waited, 0), 100 * p / (static_cast<double>(row.micro_batches) + p)));
  }
  lab.verdict(pipelined, alike ? "Yes: every bit of every weight." : "No: their weights differ.");
  lab.claim(alike, "2 and 4 stages end with the weights of one process, bit for bit",
            Lab::Judged::in_smoke_too);
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
