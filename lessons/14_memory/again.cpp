#include <fmt/format.h>
#include <lessons/14_memory/questions.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/segments.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/dry_run.h>
#include <algorithm>
#include <cmath>
#include <ctime>
#include <optional>

// Recomputation: blocks run again in backward, so that what they made need not be kept.
namespace tinymp::lab {
namespace {

using nn::Recomputing;
using nn::Segments;
using Tensors = std::vector<Tensor>;

/// Recomputation as it is soon written: a block runs, all but its result is forgotten, and it runs again in backward, with
/// the random numbers, the casts and the counts that it finds then.
Tensors run_naively(const Recomputing::Block& block, const Tensors& inputs) {
  const Tensor y = [&] {
    const Tape aside;
    return block(inputs)[0];
  }();
  return {record("naive", inputs, y, [block, inputs](const Tensor& dy, const Needs&) {
    const Tensor x = inputs[0].viewed_as(inputs[0].shape());  // of the same values, and of no tape
    x.set_requires_grad(true);
    Tape tape;
    tape.backward(sum(multiply(block({x})[0], dy)));
    return Tensors{x.grad()};
  })};
}

struct Way {
  Segments segments{};
  Recomputing::Runner runner{};  ///< none: recompute()
};

/// The gradients of one batch. The region of autocast ends before backward begins, as PyTorch advises.
std::vector<std::vector<double>> gradients_of(const nn::Model& model, const data::Batch& batch, DType cast_to,
                                              train::Task task, const Way& way) {
  Tape tape;
  const Tensor loss = [&] {
    const Autocast region(cast_to);
    std::optional<Recomputing> recomputing;
    if (way.segments.any()) recomputing.emplace(way.segments, way.runner);
    return train::loss_of(task, model, batch);
  }();
  tape.backward(loss);
  std::vector<std::vector<double>> all;
  for (const nn::Parameter& p : model.parameters()) all.push_back(p.value.grad().to_doubles());
  return all;
}

nn::TransformerSizes sizes_of(std::int64_t layers, float dropout) {
  return {.words = 66, .context = 64, .layers = layers, .width = 64, .heads = 4, .dropout = dropout};
}

train::ModelMaker decoder(std::int64_t layers, float dropout) {
  return [sizes = sizes_of(layers, dropout)](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::Transformer>(nn::Transformer::Kind::decoder, sizes, recipe, rng);
  };
}

data::Batch texts_of(std::int64_t count, std::uint64_t seed) {
  Rng rng = Rng(seed).split(16);
  data::Batch batch;
  std::vector<std::int32_t> tokens;
  for (std::int64_t i = 0; i < count * context; ++i) {
    tokens.push_back(static_cast<std::int32_t>(rng.below(66)));
    batch.labels.push_back(static_cast<std::int32_t>(rng.below(66)));
  }
  batch.texts = Texts{.tokens = Indices(tokens, Device::cpu), .steps = context};
  return batch;
}

/// The root of the mean square of the differences, in % of that of the first.
double percent_apart(const std::vector<std::vector<double>>& a, const std::vector<std::vector<double>>& b) {
  double off = 0, all = 0;
  for (std::size_t p = 0; p < a.size(); ++p)
    for (std::size_t i = 0; i < a[p].size(); ++i)
      off += (a[p][i] - b[p][i]) * (a[p][i] - b[p][i]), all += a[p][i] * a[p][i];
  return 100 * std::sqrt(off / all);
}

/// How far gradients are from those of a model that keeps its activations. Each time the model is new.
double off_of_kept(const Lab& lab, DType cast_to, float dropout, const Way& way) {
  const auto gradients = [&](const Way& of) {
    Rng rng = Rng(lab.options().first_seed).split(0);
    const std::unique_ptr<nn::Model> model = decoder(6, dropout)(recipes::fp32, rng);
    return gradients_of(*model, texts_of(2, lab.options().first_seed), cast_to, train::Task::name_tokens, of);
  };
  return percent_apart(gradients({}), gradients(way));
}

/// The running mean of a batch norm after one step, as a multiple of the right one.
double moved_mean(Lab& lab, const Way& way) {
  const data::Batch batch = data::Loader(lab.data().train, 64, lab.options().first_seed).next();
  const auto after = [&](const Way& of) {
    Rng rng = Rng(lab.options().first_seed).split(0);
    const nn::BatchNormMlp model({batch.images.shape()[1], 32, 10}, recipes::fp32, rng);
    static_cast<void>(gradients_of(model, batch, DType::f32, train::Task::classify, of));
    return model.buffers()[0].to_doubles();
  };
  const std::vector<double> once = after({}), found = after(way);
  double size = 0, times = 0;
  for (std::size_t i = 0; i < once.size(); ++i) size += once[i] * once[i], times += once[i] * found[i];
  return times / size;
}

void show_bits(Lab& lab) {
  const Segments each = Segments::one_a_block();
  const Way naive{each, run_naively}, sound = lab.sabotaged("again") ? naive : Way{each, {}},
                                      root{Segments::square_root(), sound.runner};
  struct Case {
    const char* name;
    DType cast_to;
    float dropout;
  };
  lab.say("\nBlocks that run again: gradients off from those of a model that keeps all");
  lab.say("                                 recompute()  written naively");
  double most = 0;
  for (const Case& one :
       {Case{"a decoder in FP32", DType::f32, 0}, Case{"... with dropout", DType::f32, 0.1f},
        Case{"... under autocast", DType::f16, 0}}) {
    const double found = std::max(off_of_kept(lab, one.cast_to, one.dropout, sound),
                                  off_of_kept(lab, one.cast_to, one.dropout, root));
    most = std::max(most, found);
    lab.say(fmt::format("  {:<28} {:>12.3g} % {:>14.3g} %", one.name, found,
                        off_of_kept(lab, one.cast_to, one.dropout, naive)));
  }
  const double moved = moved_mean(lab, sound);
  lab.say(fmt::format("  {:<28} {:>8.3g} times {:>10.3g} times", "batch norm's running mean", moved,
                      moved_mean(lab, naive)));
  lab.claim(most == 0,
            "recompute(): the gradients of a decoder have the same bits, with dropout and under autocast",
            Lab::Judged::in_smoke_too);
  lab.claim(moved == 1, "... and the averages of batch norm move once", Lab::Judged::in_smoke_too);
}

constexpr std::int64_t deep = 24;

train::Plan deep_plan(const Segments& segments) {
  return {.name = "deep",
          .task = train::Task::name_tokens,
          .model = decoder(deep, 0),
          .optimizer = train::optimizer_of<Adam>({.lr = 1e-3f}),
          .recompute = segments,
          .batch = 4};
}

/// Seconds of the processor for a forward and a backward pass, the least of some. Other programs do not count.
double least_seconds(const nn::Model& model, const data::Batch& batch, const Way& way, double before) {
  const std::clock_t start = std::clock();
  static_cast<void>(gradients_of(model, batch, DType::f32, train::Task::name_tokens, way));
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  for (const nn::Parameter& p : model.parameters()) p.value.clear_grad();
  return std::min(before, seconds);
}

void show_cost(Lab& lab) {
  struct Row {
    const char* name;
    Way way;
    double bytes = 0, seconds = 1e9;
  };
  Row rows[] = {
      {"none", {}}, {"each block", {Segments::one_a_block()}}, {"sqrt(24), 5", {Segments::square_root()}}};
  const train::BatchMaker blank = train::blank({.steps = context});
  for (Row& row : rows)
    row.bytes = static_cast<double>(
        train::measured_steps(deep_plan(row.way.segments), blank).most[MemoryKind::activations]);
  Rng rng = Rng(lab.options().first_seed).split(0);
  const std::unique_ptr<nn::Model> model = decoder(deep, 0)(recipes::fp32, rng);
  const data::Batch batch = texts_of(4, lab.options().first_seed);
  for (std::int64_t i = 0; i < lab.steps(9, 3); ++i)
    for (Row& row : rows) row.seconds = least_seconds(*model, batch, row.way, row.seconds);
  lab.say(fmt::format("\nA decoder of {} blocks in FP32, 4 texts of {}: activations, forward and backward",
                      deep, context));
  lab.say("  run again         MB  share       ms  times");
  for (const Row& row : rows)
    lab.say(fmt::format("  {:<12} {:>7.2f} {:>6.3f} {:>8.1f} {:>6.2f}", row.name, 1e-6 * row.bytes,
                        row.bytes / rows[0].bytes, 1e3 * row.seconds, row.seconds / rows[0].seconds));
  const double times = rows[0].bytes / rows[1].bytes;
  lab.claim(times >= 6,
            fmt::format("24 blocks, each of them run again: {} times fewer bytes of activations (6 asked)",
                        fixed(times, 1)),
            Lab::Judged::in_smoke_too);
}

}  // namespace

void show_recomputation(Lab& lab) {
  show_cost(lab);
  show_bits(lab);
}

}  // namespace tinymp::lab
