#pragma once

#include <tests/dist/on_ranks.h>
#include <tests/train/dry_runs.h>
#include <tinymp/train/rank_sum.h>

/// Runs of ranks that are threads, compared with the run of one process that accumulates.
namespace tinymp::test {

/// What rank 0 of so many ranks leaves; the others must end with the same weights.
inline Outcome finish_on_ranks(const Plan& plan, int count, const OwnRun& run) {
  std::vector<std::unique_ptr<nn::Model>> models(static_cast<std::size_t>(count));
  on_ranks(count, [&](dist::Transport& ranks) {
    Plan shared = plan;
    shared.ranks = &ranks;
    train::run(shared, run.log(), {}, &models[static_cast<std::size_t>(ranks.rank())]);
  });
  for (const auto& model : models) {
    REQUIRE(model);
    CHECK(bits_of(*model) == bits_of(*models[0]));
  }
  return {log_of(run.log()), checkpoints_in(run.folder.path), bits_of(*models[0])};
}

inline Outcome alone(const Plan& plan) {
  const OwnRun run;
  return finish(plan, run);
}

/// By 1, 2 and 4 ranks, with 4 micro-batches a step: log, checkpoints and weights are those of one process.
inline void check_shared(Plan plan, std::initializer_list<int> counts = {1, 2, 4}) {
  plan.micro_batches = 4;
  const Outcome expected = alone(plan);
  for (const int count : counts) {
    INFO(plan.name << ", " << describe(plan.recipe) << ", " << count << " ranks");
    const OwnRun run;
    check_same(expected, finish_on_ranks(plan, count, run));
  }
}

/// A text without an end of its own.
inline data::Text made_up_text() {
  data::Text text{.name = "made up",
                  .vocabulary = {"<unk>", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j"},
                  .train = {},
                  .validation = {}};
  Rng rng(5);
  for (int i = 0; i < 3000; ++i)
    (i < 2500 ? text.train : text.validation).push_back(static_cast<std::int32_t>(1 + rng.below(10)));
  return text;
}

inline Plan of_text(const data::Text& text, const Recipe& recipe, train::ModelMaker model,
                    data::TextAim aim) {
  Plan plan;
  plan.name = "text";
  plan.recipe = recipe;
  plan.task = Task::name_tokens;
  plan.text = train::TextPlan{.text = &text, .aim = aim, .context = 8};
  plan.model = std::move(model);
  plan.optimizer = made<Adam>({.lr = 0.01f});
  plan.optimizer_name = "adam lr=0.01";
  plan.steps = 6;
  plan.batch = 4;
  plan.log_every = 2;
  plan.saves = true;
  plan.save_every = 2;
  return plan;
}

}  // namespace tinymp::test
