#include <kernels/kernels.h>
#include <tinymp/base/memory_words.h>
#include <tinymp/train/dry_run.h>
#include <tinymp/train/memory.h>
#include <tinymp/train/pending_steps.h>
#include <algorithm>
#include <limits>
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

std::string name_in_table(const StepPart& part) {
  switch (part.phase) {
    case StepPart::Phase::before:
      return "the batch";
    case StepPart::Phase::again:
      return part.op + ", again";
    case StepPart::Phase::backward:
      return part.op + ", backward";
    case StepPart::Phase::after:
      return "behind the tape";
    case StepPart::Phase::forward:
      break;
  }
  return part.op;
}

std::vector<KeptBytes> kept_by_ops(const MemoryLedger& ledger) {
  std::vector<KeptBytes> kept;
  for (const StepPart& part : ledger.parts()) {
    if (part.activations == 0) continue;
    const std::string op = name_in_table(part);
    auto same = std::ranges::find_if(kept, [&](const KeptBytes& k) {
      return k.op == op && k.shape == part.shape && k.dtype == part.dtype;
    });
    if (same == kept.end()) same = kept.insert(kept.end(), {op, part.shape, part.dtype});
    same->bytes += part.activations;
    ++same->times;
  }
  if (ledger.from_before() > 0)
    kept.push_back({.op = "the steps before", .bytes = ledger.from_before(), .times = 1});
  std::ranges::stable_sort(kept, std::greater<>(), &KeptBytes::bytes);
  return kept;
}

/// Two steps, as train::run takes them: the first makes what all later ones find.
MemoryUse use_of_steps(const Plan& plan, const BatchMaker& batch, Saved saved) {
  expect(plan.model && plan.optimizer && batch, "dry_run: the plan '", plan.name,
         "' lacks its model or optimizer, or there are no batches");
  expect(plan.batch >= 1, "dry_run: a batch of ", plan.batch);
  MemoryLedger ledger(saved);
  const std::unique_ptr<nn::Model> model = make_model(plan, plan.recipe);
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(plan, *model);
  LossScaler scaler(plan.recipe.scaling);
  static_cast<void>(scaler.seed(plan.device));  // its state goes there now, and counts in no step
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
          .kept = kept_by_ops(ledger),
          .parts = ledger.parts()};
}

void expect_tellable(const BatchShape& shape, std::int64_t count) {
  const std::int64_t most = most_in_batch(shape);
  expect(count <= most, "a batch of ", count, shape.pixels > 0 ? " images" : " texts",
         shape.pixels > 0 ? "" : concat(" of ", shape.steps, " tokens"), " is too large; take at most ",
         most);
}

}  // namespace

std::int64_t most_in_batch(const BatchShape& shape) {
  constexpr std::int64_t most = std::int64_t{1} << 24, tokens = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t labels = std::int64_t{1} << 24;  // the CPU holds them, on meta too
  if (shape.steps == 0) return most;
  return std::min({most, tokens / shape.steps, labels / (shape.asked > 0 ? shape.asked : shape.steps)});
}

BatchMaker blank(const BatchShape& shape) {
  expect((shape.pixels > 0) != (shape.steps > 0) && shape.asked >= 0 && shape.asked <= shape.steps,
         "blank: a batch of ", shape.pixels, " pixels and ", shape.steps, " tokens, of which ", shape.asked,
         " are asked for; it is one of images or of texts");
  return [shape](std::int64_t count, Device device) {
    expect_tellable(shape, count);
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
  throw MemoryLimitError(concat("a step of the run '", plan.name, "' takes ", use.peak, " bytes (",
                                told_kinds(use.at_peak.of), "), and its limit is ", plan.memory_limit, "; ",
                                how_to_take_less));
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

std::int64_t largest_batch(const Plan& plan, const BatchShape& shape, std::int64_t budget, Saved saved) {
  const BatchMaker batch = blank(shape);
  const auto fits = [&](std::int64_t count, std::int64_t micro_batches) {
    Plan sized = plan;
    sized.batch = count;
    sized.micro_batches = micro_batches;
    return dry_run(sized, batch, saved).peak <= budget;
  };
  // The largest count that fits; `good` does, `bad` does not.
  const auto between = [&](std::int64_t good, std::int64_t bad, std::int64_t micro_batches) {
    while (bad - good > 1) {
      const std::int64_t middle = std::midpoint(good, bad);
      (fits(middle, micro_batches) ? good : bad) = middle;
    }
    return good;
  };
  // A dry run takes time with each micro-batch. More of them never take less, so a few tell where to begin.
  const std::int64_t few = std::min<std::int64_t>(plan.micro_batches, 3), most = most_in_batch(shape);
  std::int64_t good = 0, next = 1;
  for (; good < most && fits(next, few); next = std::min(2 * next, most)) good = next;
  if (good < most) good = between(good, next, few);
  if (good == 0 || few == plan.micro_batches || fits(good, plan.micro_batches)) return good;
  return between(0, good, plan.micro_batches);
}

}  // namespace tinymp::train
