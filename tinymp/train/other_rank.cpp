#include <tinymp/train/other_rank.h>
#include <tinymp/train/rank_sum.h>

namespace tinymp::train {

void take_part(const Plan& plan, TrainedParts& parts, std::int64_t step) {
  RankSum ranks(plan, *parts.model, *parts.optimizer);
  const StepRecords records(plan.device, kernels::StepRecords());
  for (std::int64_t t = step + 1; t <= plan.steps && !ranks.stops(); ++t) {
    parts.optimizer->set_learning_rate(parts.schedule.at(t));
    MicroBatches batches = next_of(parts.loader, plan);
    batches.ranks = &ranks;
    start_step(plan, t, *parts.model, *parts.optimizer, parts.scaler, parts.products, {}, batches, records);
    parts.loader.skip();
  }
}

}  // namespace tinymp::train
