#include <fmt/format.h>
#include <lessons/14_memory/questions.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/dry_run.h>
#include <algorithm>
#include <ctime>

// The bytes of BERT's steps, counted by a dry run: nothing of that size is made.
namespace tinymp::lab {
namespace {

using train::MemoryUse;
using train::Saved;

/// Devlin et al. 2019, section 3, and appendix A.2; fine-tuning with two classes.
struct Bert {
  const char* name;
  std::int64_t layers, width, heads;
};
constexpr Bert base{"BERT-base", 12, 768, 12}, large{"BERT-large", 24, 1024, 16};

train::Plan plan_of(const Bert& bert, const Recipe& recipe, std::int64_t batch) {
  const nn::TransformerSizes sizes{.words = 30522,
                                   .context = 512,
                                   .layers = bert.layers,
                                   .width = bert.width,
                                   .heads = bert.heads,
                                   .dropout = 0.1f,
                                   .classes = 2};
  return {.name = bert.name,
          .recipe = recipe,
          .task = train::Task::name_tokens,
          .model =
              [sizes](const Recipe& r, Rng& rng) {
                return std::make_unique<nn::Transformer>(nn::Transformer::Kind::encoder, sizes, r, rng);
              },
          .optimizer = train::optimizer_of<Adam>({.lr = 1e-4f}),
          .batch = batch};
}

train::BatchShape shape_of(std::int64_t T) { return {.steps = T, .asked = 1}; }
train::BatchMaker texts(std::int64_t T) { return train::blank(shape_of(T)); }

MemoryUse use_of(const Bert& bert, const Recipe& recipe, std::int64_t batch, std::int64_t T,
                 Saved saved = Saved::lean) {
  return train::dry_run(plan_of(bert, recipe, batch), texts(T), saved);
}

double gb(std::int64_t bytes) { return 1e-9 * static_cast<double>(bytes); }

/// What FP16 does not halve, by op: of f bytes that stay and h others FP32 takes f + 2 h.
std::string still_wide(const MemoryUse& fp16, const MemoryUse& fp32) {
  std::vector<std::pair<std::string, std::int64_t>> ops;
  for (const train::KeptBytes& narrow : fp16.kept) {
    const auto wide = std::ranges::find_if(fp32.kept, [&](const train::KeptBytes& op) {
      return op.op == narrow.op && op.shape == narrow.shape;
    });
    const std::int64_t stays = wide == fp32.kept.end() ? narrow.bytes : 2 * narrow.bytes - wide->bytes;
    if (stays == 0) continue;
    const auto same = std::ranges::find(ops, narrow.op, &std::pair<std::string, std::int64_t>::first);
    if (same == ops.end())
      ops.emplace_back(narrow.op, stays);
    else
      same->second += stays;
  }
  std::string told;
  for (const auto& [op, bytes] : ops) told += fmt::format("{}{} {}", told.empty() ? "" : ", ", op, bytes);
  return told.empty() ? "nothing" : told + " bytes";
}

void show_kinds(Lab& lab) {
  constexpr std::int64_t batch = 32, T = 128;
  const Recipe fp16 =
      lab.sabotaged("fp16") ? recipes::fp32 : recipes::fp16_dynamic;  // a model that is not cast
  const MemoryUse uses[] = {use_of(base, recipes::fp32, batch, T),
                            use_of(base, recipes::fp32, batch, T, Saved::all), use_of(base, fp16, batch, T),
                            use_of(base, fp16, batch, T, Saved::all)};
  lab.say(fmt::format("\n{}, fine-tuning with Adam, {} texts of {} tokens: GB (10^9 bytes)", base.name, batch,
                      T));
  lab.say("                      FP32             FP16");
  lab.say("                 lean     all     lean     all");
  for (const MemoryKind kind : {MemoryKind::weights, MemoryKind::masters, MemoryKind::optimizer,
                                MemoryKind::gradients, MemoryKind::activations, MemoryKind::workspace}) {
    std::string line = fmt::format("  {:<11}", name_of(kind));
    for (const MemoryUse& use : uses) line += fmt::format(" {:>7.3f}", gb(use.most[kind]));
    lab.say(line);
  }
  std::string line = "  at once    ";
  for (const MemoryUse& use : uses) line += fmt::format(" {:>7.3f}", gb(use.peak));
  lab.say(line);
  const double share = static_cast<double>(uses[2].most[MemoryKind::activations]) /
                       static_cast<double>(uses[0].most[MemoryKind::activations]);
  lab.number("BERT-base: activations of FP16, share of FP32's", share);
  lab.claim(
      share >= 0.5 && share <= 0.56,
      fmt::format("BERT-base: FP16's activations are {} of FP32's (0.50 to 0.56 asked)", fixed(share, 3)),
      Lab::Judged::in_smoke_too);
  lab.say("Not halved: " + still_wide(uses[2], uses[0]));
  lab.say("What the ops keep most of, lean in FP32");
  for (std::size_t i = 0; i < std::min<std::size_t>(8, uses[0].kept.size()); ++i) {
    const train::KeptBytes& op = uses[0].kept[i];
    lab.say(
        fmt::format("  {:<14} {:<18} {:>4} times {:>7.3f}", op.op, concat(op.shape), op.times, gb(op.bytes)));
  }
}

constexpr std::int64_t lengths[] = {64, 128, 256, 320, 384, 512};
constexpr std::int64_t budget = 12'000'000'000;

/// https://github.com/google-research/bert, README, "Out-of-memory issues": one Titan X with 12 GB.
struct Published {
  Bert bert;
  std::int64_t batches[6];
};
constexpr Published published[] = {{base, {64, 32, 16, 14, 12, 6}}, {large, {12, 6, 2, 1, 0, 0}}};

void show_fits(Lab& lab) {
  lab.say("\nThe largest batch of a step with Adam in 12 GB");
  lab.say("                        T   64  128  256  320  384  512");
  bool above = true;
  for (const Published& of : published) {
    std::string line = fmt::format("  {:<20}", concat(of.bert.name, ", published"));
    line.resize(25, ' ');
    for (const std::int64_t batch : of.batches) line += fmt::format(" {:>4}", batch);
    lab.say(line);
    struct Row {
      const char* name;
      Recipe recipe;
      Saved saved;
      bool again;
    };
    for (const Row& row : {Row{"FP32, all saved", recipes::fp32, Saved::all, false},
                           Row{"FP32", recipes::fp32, Saved::lean, false},
                           Row{"FP16", recipes::fp16_dynamic, Saved::lean, false},
                           Row{"FP16, run again", recipes::fp16_dynamic, Saved::lean, true}}) {
      line = fmt::format("    {:<23}", row.name).substr(0, 26);
      line.resize(25, ' ');
      for (std::size_t i = 0; i < std::size(lengths); ++i) {
        train::Plan plan = plan_of(of.bert, row.recipe, 1);
        if (row.again) plan.recompute = nn::Segments::one_a_block();
        const std::int64_t batch = train::largest_batch(plan, shape_of(lengths[i]), budget, row.saved);
        line += fmt::format(" {:>4}", batch);
        above = above && batch >= of.batches[i];
      }
      lab.say(line);
    }
  }
  lab.claim(above, "BERT in 12 GB: every batch that its authors could train fits, at each T",
            Lab::Judged::in_smoke_too);
}

/// What FP16 saves of FP32's peak, in percent.
double saving(std::int64_t batch, std::int64_t T, const train::OptimizerMaker& optimizer) {
  const auto peak = [&](const Recipe& recipe) {
    train::Plan plan = plan_of(base, recipe, batch);
    plan.optimizer = optimizer;
    return static_cast<double>(train::dry_run(plan, texts(T)).peak);
  };
  return 100 * (1 - peak(recipes::fp16_dynamic) / peak(recipes::fp32));
}

void show_saving(Lab& lab) {
  lab.say("\nWhat FP16 with FP32 masters saves of all bytes of BERT-base's step");
  lab.say("  texts                  1       8      32     128     512");
  struct Row {
    const char* name;
    train::OptimizerMaker optimizer;
  };
  for (const Row& row : {Row{"Adam", train::optimizer_of<Adam>({.lr = 1e-4f})},
                         Row{"plain SGD", train::optimizer_of<Sgd>({.lr = 1e-2f})}})
    for (const std::int64_t T : {128, 512}) {
      std::string line = fmt::format("  {:<9}, T = {:<3}", row.name, T);
      for (const std::int64_t batch : {1, 8, 32, 128, 512})
        line += fmt::format(" {:>5.1f} %", saving(batch, T, row.optimizer));
      lab.say(line);
    }
}

/// Of the processor, the least of some. Other programs do not count.
double seconds_of_attention(std::int64_t T) {
  constexpr std::int64_t d = 64;
  Rng rng(14);
  std::vector<float> values;
  for (std::int64_t i = 0; i < T * d; ++i) values.push_back(rng.uniform(-1, 1));
  const Tensor x = Tensor::from({1, T, d}, values);
  x.set_requires_grad(true);
  double least = 1e9;
  for (int i = 0; i < 9; ++i) {
    const std::clock_t start = std::clock();
    Tape tape;
    tape.backward(sum(attention(x, x, x)));
    least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    x.clear_grad();
  }
  return least;
}

void show_growth(Lab& lab) {
  lab.say("\nBERT-base, FP32, 8 texts: GB of activations; a head forward and backward");
  lab.say("      T   attention   all others   ms of a head");
  for (const std::int64_t T : {64, 128, 256, 512}) {
    const MemoryUse use = use_of(base, recipes::fp32, 8, T);
    std::int64_t of_attention = 0;
    for (const train::KeptBytes& op : use.kept)
      if (op.op == "attention") of_attention += op.bytes;
    lab.say(fmt::format("  {:>5} {:>11.3f} {:>12.3f} {:>14.2f}", T, gb(of_attention),
                        gb(use.most[MemoryKind::activations] - of_attention), 1e3 * seconds_of_attention(T)));
  }
}

/// BERT-large for 16 GB: 256 texts of 128 tokens in a step.
void show_plan(Lab& lab) {
  lab.say("\nBERT-large, T = 128, a step of 256 texts with Adam: GB");
  double at_8 = 0;
  struct Row {
    const char* name;
    Recipe recipe;
    std::int64_t batch;
    bool again;
  };
  for (const Row& row :
       {Row{"FP32, 256 at once", recipes::fp32, 256, false},
        Row{"FP16, 256 at once", recipes::fp16_dynamic, 256, false},
        Row{"FP32, 8 x 32", recipes::fp32, 8, false}, Row{"FP16, 8 x 32", recipes::fp16_dynamic, 8, false},
        Row{"FP16, 32 x 8", recipes::fp16_dynamic, 32, false},
        Row{"FP16, 32 x 8, blocks run again", recipes::fp16_dynamic, 32, true}}) {
    train::Plan plan = plan_of(large, row.recipe, row.batch);
    plan.micro_batches = 256 / row.batch;
    if (row.again) plan.recompute = nn::Segments::one_a_block();
    const double bytes = gb(train::dry_run(plan, texts(128)).peak);
    if (row.name == std::string("FP16, 8 x 32")) at_8 = bytes;
    lab.say(fmt::format("  {:<32} {:>8.3f}", row.name, bytes));
  }
  lab.claim(at_8 <= 16, fmt::format("BERT-large, T = 128, FP16, 8 x 32: {} GB (16 allowed)", fixed(at_8, 2)),
            Lab::Judged::in_smoke_too);
}

}  // namespace

void show_bytes(Lab& lab) {
  show_kinds(lab);
  show_fits(lab);
  show_saving(lab);
  show_growth(lab);
  show_plan(lab);
}

}  // namespace tinymp::lab
