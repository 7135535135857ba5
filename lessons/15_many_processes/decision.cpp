#include <fmt/format.h>
#include <lessons/15_many_processes/questions.h>
#include <tinymp/dist/transport.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <cmath>
#include <limits>

// A step is skipped by all ranks, or by none.
namespace tinymp::lab {
namespace {

constexpr int ranks = 4;
constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

const std::string of_sum = "all, by the sum", own = "each for itself", largest_of_all = "all, by the largest";

train::Plan plan_of(const Lab& lab, const std::string& name, std::uint64_t seed) {
  Recipe recipe = recipes::fp16_dynamic;
  recipe.gradient = DType::f32;                            // so that no sum of finite gradients overflows
  recipe.scaling = DynamicScaling{.growth_interval = 20};  // S grows until a gradient of some rank does
  return {.question = decision,
          .name = name,
          .recipe = recipe,
          .seed = seed,
          .model = train::model_of<nn::Mlp>({784, 64, 10}),
          .optimizer = train::optimizer_of<Sgd>({.lr = 0.05f, .momentum = 0.9f}),
          .optimizer_name = "sgd lr=0.05 momentum=0.9",
          .steps = lab.steps(300, 60),
          .batch = 16,
          .micro_batches = ranks};
}

/// "rank 2 has other weights than the others before step 50: ..."; empty: no rank has drifted.
std::string complaint(Lab& lab, train::Plan plan) {
  try {
    train_on_ranks(lab, std::move(plan), ranks, nullptr, Report::no);
    return "";
  } catch (const dist::LostRank&) {
    throw;
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace

void ask_decision(Lab& lab) {
  bool agree = true;
  int found = 0;
  std::string told;
  for (const std::uint64_t seed : lab.seeds()) {
    for (const std::string& name : {of_sum, largest_of_all, own}) {
      train::Plan plan = plan_of(lab, name, seed);
      plan.compare_every = never;
      if (name == largest_of_all) plan.found_inf = train::FoundInf::largest;
      if (name == own || lab.sabotaged("decide")) plan.found_inf = train::FoundInf::own;
      Models models;
      train_on_ranks(lab, plan, ranks, &models);
      if (name != own)
        agree = agree && are_one(models) && std::isfinite(models[0]->parameters()[0].value.to_floats()[0]);
    }
    train::Plan plan = plan_of(lab, "each for itself, compared", seed);
    plan.found_inf = train::FoundInf::own;
    plan.compare_every = 1;
    const std::string message = complaint(lab, std::move(plan));
    found += message.find("has other weights than the others") != std::string::npos;
    if (told.empty()) told = message;
  }
  lab.say("\nEach for itself, and the ranks compare their weights before each step:");
  lab.say_finding(told.empty() ? "No rank has drifted." : told);
  lab.verdict(decision,
              "All of them, by what is found in the sum, or by the largest number that a rank has found.");
  lab.claim(agree, "one decision for all: 4 ranks end with the same finite weights",
            Lab::Judged::in_smoke_too);
  lab.claim_nan(decision, own, "each rank decides for itself", Lab::Judged::in_full);
  lab.claim(found == lab.options().seeds, "... and a comparison of the weights finds it, on every seed");
}

}  // namespace tinymp::lab
