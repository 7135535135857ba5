#include <tinymp/train/other_rank.h>
#include <tinymp/train/rank_sum.h>

namespace tinymp::train {
namespace {

/// Rank 0 wants the masters and moments of all.
void give_state(const Optimizer& optimizer) { static_cast<void>(optimizer.state()); }

}  // namespace

void take_part(const Plan& plan, TrainedParts& parts, std::int64_t step) {
  RankSum ranks(plan, *parts.model, *parts.optimizer, parts.shards.get());
  const MemoryMeter memory(*parts.model, *parts.optimizer);
  const StepRecords records(plan.device, kernels::StepRecords());
  const auto take = [&](std::int64_t t) {
    const MemoryRegion counted(memory.account());
    parts.optimizer->set_learning_rate(parts.schedule.at(t));
    MicroBatches batches = next_of(parts.loader, plan);
    batches.ranks = &ranks;
    // Where masters are shared, each rank has a part of the norm that rank 0 logs.
    const StepMeters meters{.norm = parts.shards && is_logged(plan, t)};
    start_step(plan, t, *parts.model, *parts.optimizer, parts.scaler, parts.products, meters, batches,
               records);
    parts.loader.skip();
  };
  if (!parts.shards) {
    for (std::int64_t t = step + 1; t <= plan.steps && !ranks.stops(); ++t) take(t);
    return;
  }
  RankShards::Next next{};
  while ((next = parts.shards->hear()) != RankShards::Next::end)
    next == RankShards::Next::step ? take(++step) : give_state(*parts.optimizer);
  parts.shards->end(memory.state_bytes());
}

}  // namespace tinymp::train
