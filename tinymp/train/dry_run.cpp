#include <kernels/kernels.h>
#include <tinymp/train/dry_run.h>
#include <tinymp/train/memory.h>
#include <tinymp/train/pending_steps.h>
#include <algorithm>
#include <numeric>
#include <utility>

namespace tinymp::train {
namespace {

/// So many numbers, all 0, that count as real ones do. On meta the CPU holds none.
Indices zeros(std::int64_t count, Device device) {
  if (device == Device::meta) return {count, 0, 0, device};
  return {std::vector<std::int32_t>(static_cast<std::size_t>(count), 0), device};
}

data::Batch blank_images(std::int64_t pixels, std::int64_t count, Device device) {
  data::Batch batch{Tensor({count, pixels}, DType::f32, device),
                    std::vector<std::int32_t>(static_cast<std::size_t>(count), 0)};
  kernels::fill(batch.images.view(), 0);
  return batch;
}

data::Batch blank_texts(const BatchShape& shape, std::int64_t count, Device device) {
  data::Batch batch;
  batch.texts = Texts{.tokens = zeros(count * shape.steps, device), .steps = shape.steps};
  const std::int64_t labels = count * (shape.asked > 0 ? shape.asked : shape.steps);
  batch.labels.resize(static_cast<std::size_t>(labels), 0);
  if (shape.asked == 0) return batch;
  std::vector<std::int32_t> places;
  for (std::int64_t text = 0; text < count; ++text)
    for (std::int64_t i = 0; i < shape.asked; ++i)
      places.push_back(static_cast<std::int32_t>(text * shape.steps + i));
  batch.texts->asked = Indices(places, device);
  return batch;
}

Shape shape_of(const data::Batch& batch) {
  if (!batch.texts) return batch.images.shape();
  return {batch.texts->tokens.size() / batch.texts->steps, batch.texts->steps};
}

std::vector<KeptBytes> kept_by_ops(const std::vector<StepPart>& parts) {
  std::vector<KeptBytes> kept;
  for (const StepPart& part : parts) {
    if (part.activations == 0) continue;
    const std::string op = part.op.empty() ? "the batch" : part.op;
    auto same = std::ranges::find_if(kept, [&](const KeptBytes& k) {
      return k.op == op && k.shape == part.shape && k.dtype == part.dtype;
    });
    if (same == kept.end()) same = kept.insert(kept.end(), {op, part.shape, part.dtype});
    same->bytes += part.activations;
    ++same->times;
  }
  std::ranges::stable_sort(kept, std::greater<>(), &KeptBytes::bytes);
  return kept;
}

/// Two steps, as train::run takes them: the first makes what all later ones find.
MemoryUse use_of_steps(const Plan& plan, const BatchMaker& batch, Saved saved) {
  expect(plan.model && plan.optimizer && batch, "dry_run: the plan '", plan.name,
         "' lacks its model or optimizer, or there are no batches");
  expect(plan.batch >= 1, "dry_run: a batch of ", plan.batch);
  MemoryLedger ledger(saved);  // the last to go: it sees what the model gives back
  const std::unique_ptr<nn::Model> model = make_model(plan, plan.recipe);
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(plan, *model);
  LossScaler scaler(plan.recipe.scaling);
  static_cast<void>(scaler.seed(plan.device));  // its state goes where the steps are; no cell of a step
  const Float8Products products = make_products(plan, *model);
  products.set_step(0);
  PendingSteps pending(plan.device);
  const MemoryMeter meter(*model, *optimizer, &ledger);
  meter.account()->set_limit(plan.memory_limit);
  const MicroBatches batches{equal_sizes(plan), [&](std::int64_t) {
                               data::Batch made = batch(plan.batch, plan.device);
                               ledger.begin_tape(shape_of(made));
                               return made;
                             }};
  for (std::int64_t t = 1; t <= 2; ++t) {
    const MemoryRegion counted(meter.account());
    ledger.begin_step();
    pending.add(start_step(plan, t, *model, *optimizer, scaler, products, {.norm = true, .observer = &ledger},
                           batches, pending.records()));
    ledger.end_step();
  }
  return {.peak = ledger.peak(),
          .most = ledger.most(),
          .at_peak = ledger.at_peak(),
          .heaviest = ledger.heaviest(),
          .kept = kept_by_ops(ledger.parts()),
          .parts = ledger.parts()};
}

}  // namespace

BatchMaker blank(const BatchShape& shape) {
  expect((shape.pixels > 0) != (shape.steps > 0) && shape.asked >= 0 && shape.asked <= shape.steps,
         "blank: a batch of ", shape.pixels, " pixels and ", shape.steps, " tokens, of which ", shape.asked,
         " are asked for; it is one of images or of texts");
  return [shape](std::int64_t count, Device device) {
    return shape.pixels > 0 ? blank_images(shape.pixels, count, device) : blank_texts(shape, count, device);
  };
}

BatchShape batch_shape_of(const Plan& plan) {
  if (!plan.text) return {.pixels = plan.data->train.shape.size()};
  const data::TextExamples texts = plan.text->training();
  return {.steps = texts.steps(), .asked = texts.aim() == data::TextAim::masked_tokens ? texts.asked() : 0};
}

void expect_fits(const Plan& plan) {
  if (plan.memory_limit == 0) return;
  const MemoryUse use = dry_run(plan, blank(batch_shape_of(plan)));
  if (use.peak <= plan.memory_limit) return;
  std::string kinds;
  for (std::size_t i = 0; i < memory_kinds; ++i)
    if (use.at_peak.of[i] > 0)
      kinds += concat(kinds.empty() ? "" : ", ", name_of(static_cast<MemoryKind>(i)), " ", use.at_peak.of[i]);
  throw MemoryLimitError(concat("a step of the run '", plan.name, "' takes ", use.peak, " bytes (", kinds,
                                "), and its limit is ", plan.memory_limit,
                                "; ./learn memory shows what takes them, a smaller --batch takes less"));
}

MemoryUse dry_run(const Plan& plan, const BatchMaker& batch, Saved saved) {
  Plan there = plan;
  there.device = Device::meta;
  there.memory_limit = 0;
  return use_of_steps(there, batch, saved);
}

MemoryUse measured_steps(const Plan& plan, const BatchMaker& batch) {
  expect(plan.device != Device::meta, "measured_steps: on meta nothing is measured; call dry_run");
  return use_of_steps(plan, batch, Saved::lean);
}

std::int64_t largest_batch(const Plan& plan, const BatchMaker& batch, std::int64_t budget, Saved saved) {
  constexpr std::int64_t most = std::int64_t{1} << 30;  // no search goes on for ever
  const auto fits = [&](std::int64_t count) {
    Plan sized = plan;
    sized.batch = count;
    return dry_run(sized, batch, saved).peak <= budget;
  };
  std::int64_t good = 0, bad = 1;
  for (; bad < most && fits(bad); bad *= 2) good = bad;
  while (bad - good > 1) {
    const std::int64_t middle = std::midpoint(good, bad);
    (fits(middle) ? good : bad) = middle;
  }
  return good;
}

}  // namespace tinymp::train
