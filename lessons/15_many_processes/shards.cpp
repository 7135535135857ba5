#include <fmt/format.h>
#include <lessons/15_many_processes/questions.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <map>

// ZeRO stage 1: each rank keeps a part of masters and moments.
namespace tinymp::lab {
namespace {

const std::string whole = "4 ranks, each keeps all";

std::string sharded_name(int ranks) { return fmt::format("{} ranks, each keeps a part", ranks); }

train::Plan plan_of(const Lab& lab, const std::string& name, std::uint64_t seed) {
  return {.question = sharded,
          .name = name,
          .recipe = recipes::fp16_dynamic,
          .seed = seed,
          .model = train::model_of<nn::Mlp>({784, 256, 128, 10}),
          .optimizer = train::optimizer_of<Adam>({.lr = 0.001f}),
          .optimizer_name = "adam lr=0.001",
          .steps = lab.steps(200, 6),
          .batch = 16,
          .micro_batches = 4,
          .clip = 1};
}

std::int64_t largest_of(const std::vector<std::int64_t>& bytes) {
  return bytes.empty() ? 0 : *std::ranges::max_element(bytes);
}

void say_bytes(Lab& lab, std::int64_t parameters, const std::map<int, std::int64_t>& by_ranks) {
  lab.say(fmt::format("\nAn MLP of {} parameters, Adam, FP16 with FP32 masters: bytes of masters and moments",
                      parameters));
  lab.say("  ranks        on a rank   a parameter   with FP16 weights and gradients");
  for (const auto& [ranks, bytes] : by_ranks) {
    const double each = static_cast<double>(bytes) / static_cast<double>(parameters);
    lab.say(fmt::format("  {:>5} {:>16} {:>13.2f} {:>15.2f}", ranks, bytes, each, each + 4));
  }
}

}  // namespace

void ask_shards(Lab& lab) {
  bool alike = true;
  std::map<int, std::int64_t> by_ranks;  // the largest share of a rank
  std::int64_t parameters = 0;
  for (const std::uint64_t seed : lab.seeds()) {
    Models all;
    train_on_ranks(lab, plan_of(lab, whole, seed), 4, &all);
    parameters = 0;
    for (const nn::Parameter& p : all[0]->parameters()) parameters += p.value.size();
    by_ranks[1] = 12 * parameters;
    for (const int ranks : {2, 4}) {
      train::Plan plan = plan_of(lab, sharded_name(ranks), seed);
      plan.zero = lab.sabotaged("shard") ? 0 : 1;
      Models models;
      const train::Run run = train_on_ranks(lab, std::move(plan), ranks, &models);
      by_ranks[ranks] = run.state_bytes.empty() ? 12 * parameters : largest_of(run.state_bytes);
      alike = alike && are_one(models) && bits_of(*models[0]) == bits_of(*all[0]);
    }
  }
  say_bytes(lab, parameters, by_ranks);
  const double half = static_cast<double>(by_ranks[2]) / static_cast<double>(by_ranks[1]),
               quarter = static_cast<double>(by_ranks[4]) / static_cast<double>(by_ranks[1]);
  lab.verdict(sharded, fmt::format("{}: {} ranks keep {} % each, {} ranks {} %.",
                                   alike ? "Not a bit" : "Their weights differ", 2, fixed(100 * half, 1), 4,
                                   fixed(100 * quarter, 1)));
  lab.claim(alike,
            "each keeps a part: 2 and 4 ranks end with the weights of ranks that keep all, bit for bit",
            Lab::Judged::in_smoke_too);
  lab.claim(
      half <= 0.51 && quarter <= 0.26,
      fmt::format("... and a rank of 2 keeps {} % of masters and moments, one of 4 {} % (51 and 26 allowed)",
                  fixed(100 * half, 1), fixed(100 * quarter, 1)),
      Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
