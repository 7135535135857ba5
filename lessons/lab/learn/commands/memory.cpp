#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/byte_size.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/commands/memory_models.h>
#include <lessons/lab/learn/commands/recipe_flags.h>
#include <lessons/lab/learn/commands/train_flags.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/number.h>
#include <lessons/lab/report/table.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <numeric>

// ./learn memory: the bytes of a training's steps, by a dry run on shapes alone (tinymp/train/dry_run.h).
namespace tinymp::lab {
namespace {

using report::Align;
using train::MemoryUse;
using train::Saved;

struct MemoryFlags {
  ModelFlags model;
  RecipeFlags recipe;
  std::string data, optimizer = "sgd", saved = "lean", budget, recompute;
  float momentum = 0;
  std::int64_t batch = 64, micro_batches = 1, ops = 12;
};

void add_memory_flags(CLI::App& app, MemoryFlags& flags) {
  app.add_option("--batch", flags.batch, "Images, or texts, that go forward and backward at once")
      ->type_name("N")
      ->check(whole(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--accumulate", flags.micro_batches,
                 "Add up the gradients of K such batches, and take one step with their mean")
      ->type_name("K")
      ->check(whole(1, 1'000'000))
      ->capture_default_str();
  add_recompute_flag(app, flags.recompute);
  app.add_option("--budget", flags.budget,
                 "Without --batch: look for the largest batch that fits; 12GB, 16GiB")
      ->type_name("SIZE")
      ->check(byte_size());
  app.add_option("--optimizer", flags.optimizer, "sgd, adam, adamw or adagrad")
      ->type_name("NAME")
      ->check(CLI::IsMember({"sgd", "adam", "adamw", "adagrad"}).description(""))
      ->capture_default_str();
  app.add_option("--momentum", flags.momentum, "Of sgd (0)")->type_name("X")->check(fraction());
  app.add_option("--data", flags.data, "mnist, fashion, cut or cifar10: the shape of the images (mnist)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"mnist", "fashion", "cut", "cifar10"}).description(""));
  app.add_option("--saved", flags.saved, "lean or all, see below")
      ->type_name("WHAT")
      ->check(CLI::IsMember({"lean", "all"}).description(""))
      ->capture_default_str();
  app.add_option("--ops", flags.ops, "How many ops to list")
      ->type_name("N")
      ->check(whole(0, 1'000'000))
      ->capture_default_str();
  add_planned_model_flags(app, flags.model);
  add_recipe_flags(app, flags.recipe);
}

constexpr const char* about =
    "Kinds of bytes:\n"
    "  weights      parameters and buffers\n"
    "  masters      their wider copies\n"
    "  optimizer    moments\n"
    "  gradients    of the parameters\n"
    "  activations  what forward leaves for backward, autocast's copies of weights\n"
    "               among it\n"
    "  workspace    the batch, temporaries of an op, gradients of activations\n"
    "What a kernel takes while it runs (scratch) depends on the device and is not\n"
    "told. MB are 10^6 bytes, MiB 2^20, GB 10^9, GiB 2^30.\n"
    "\n"
    "What forward leaves (--saved):\n"
    "  lean  as this library runs: of each op its inputs and its output, and what its\n"
    "        backward needs besides; not what it made inside, nor an operand that\n"
    "        became FP8\n"
    "  all   as in a framework that writes all of that as ops which save their inputs\n"
    "        and outputs: nothing that forward made goes before backward has run\n"
    "        through the op that made it. So the FP32 scores of attention stay, and its\n"
    "        probabilities after dropout\n";

std::string in(double unit, std::int64_t bytes) {
  const double value = static_cast<double>(bytes) / unit;
  if (bytes == 0) return "-";
  return value < 1000 ? report::fixed_digits(value, 4) : report::fixed(value, 0);
}

/// One number for each kind, and for the most of their sum.
struct Column {
  const char* title;
  const train::MemoryMoment& of;
  std::int64_t sum;
  double unit;  ///< 0: bytes
};

std::string table_of_kinds(const std::vector<Column>& columns) {
  report::Table table{{"kind"}, {Align::left}, {}};
  for (const Column& column : columns) {
    table.header.emplace_back(column.title);
    table.align.push_back(Align::right);
  }
  const auto text = [](const Column& column, std::int64_t bytes) {
    return column.unit > 0 ? in(column.unit, bytes) : concat(bytes);
  };
  for (std::size_t i = 0; i < memory_kinds; ++i) {
    const auto kind = static_cast<MemoryKind>(i);
    if (kind == MemoryKind::scratch) continue;
    std::vector<std::string>& row = table.rows.emplace_back(1, std::string(name_of(kind)));
    for (const Column& column : columns) row.push_back(text(column, column.of[kind]));
  }
  std::vector<std::string>& row = table.rows.emplace_back(1, "all at once");
  for (const Column& column : columns) row.push_back(text(column, column.sum));
  return report::format_table(table, {.width = std::numeric_limits<int>::max()});
}

std::string table_of_ops(const MemoryUse& use, std::int64_t count) {
  report::Table table{{"op", "output", "format", "times", "MB", "share"},
                      {Align::left, Align::left, Align::left, Align::right, Align::right, Align::right},
                      {}};
  const double all = static_cast<double>(use.most[MemoryKind::activations]);
  const auto add = [&](const std::string& op, const std::string& shape, const std::string& format,
                       std::int64_t times, std::int64_t bytes) {
    table.rows.push_back({op, shape, format, concat(times), in(1e6, bytes),
                          report::percent(static_cast<double>(bytes) / all)});
  };
  std::int64_t left = 0, times = 0;
  for (std::size_t i = 0; i < use.kept.size(); ++i) {
    const train::KeptBytes& op = use.kept[i];
    if (static_cast<std::int64_t>(i) < count) {
      add(op.op, concat(op.shape), concat(op.dtype), op.times, op.bytes);
    } else {
      left += op.bytes, times += op.times;
    }
  }
  if (times > 0) add("all others", "", "", times, left);
  return report::format_table(table, {.width = std::numeric_limits<int>::max()});
}

/// What the plan takes, and beside it what it takes in FP32, and leaner.
void tell_use(const train::Plan& plan, const train::BatchMaker& batch, Saved saved, std::int64_t ops) {
  const MemoryUse use = dry_run(plan, batch, saved);
  train::Plan wide = plan;
  wide.recipe = recipes::fp32;
  const bool narrow = !(plan.recipe == recipes::fp32), all = saved == Saved::all;
  const MemoryUse in_fp32 = dry_run(wide, batch, saved), lean = dry_run(plan, batch);
  std::vector<Column> columns{{"bytes", use.most, use.peak, 0},
                              {"MB", use.most, use.peak, 1e6},
                              {"MiB", use.most, use.peak, 0x1p20},
                              {"at the peak", use.at_peak, use.peak, 1e6}};
  if (all) columns.push_back({"lean", lean.most, lean.peak, 1e6});
  if (narrow) columns.push_back({"FP32", in_fp32.most, in_fp32.peak, 1e6});
  std::cout << fitted(concat("The most of each kind, and of their sum. In MB: at the peak",
                             all ? "; what a lean framework keeps" : "", narrow ? "; in FP32" : "", ".\n\n"))
            << fitted(table_of_kinds(columns));
  const auto share = [](std::int64_t of, std::int64_t whole) {
    return report::fixed_digits(static_cast<double>(of) / static_cast<double>(whole), 3);
  };
  std::cout << fitted(concat("\nThe peak comes in: ", describe(use.heaviest), ".\n"));
  if (narrow)
    std::cout << fitted(
        concat("Beside FP32: ", share(use.peak, in_fp32.peak), " of its peak, ",
               share(use.most[MemoryKind::activations], in_fp32.most[MemoryKind::activations]),
               " of its activations.\n"));
  if (all)
    std::cout << fitted(concat("Beside lean: ", share(use.peak, lean.peak), " of its peak, ",
                               share(use.most[MemoryKind::activations], lean.most[MemoryKind::activations]),
                               " of its activations.\n"));
  if (ops > 0)
    std::cout << fitted("\nWhat the ops keep when activations are most:\n\n")
              << fitted(table_of_ops(use, ops));
}

}  // namespace

int memory_command(int argc, char** argv) {
  MemoryFlags flags;
  CLI::App app(
      "The bytes that the steps of a training take, by kind and by op. The step runs on shapes alone: no "
      "memory is taken, and the bytes are those of a real step.",
      "./learn memory");
  add_memory_flags(app, flags);
  app.footer(concat(about, "\nRecipes:\n", recipe_list(),
                    "\nExamples:\n"
                    "  ./learn memory --model resnet20 --recipe fp16_dynamic --batch 128\n"
                    "  ./learn memory --model bert-base --optimizer adam --budget 12GB\n"
                    "  ./learn memory --model bert-large --sequence 512 --saved all --batch 8"));
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  if (flags.optimizer != "sgd" && app.count("--momentum") > 0)
    throw UsageError(concat("--momentum is for sgd, not for ", flags.optimizer));

  const PlannedModel model = planned_model(app, flags.model, flags.data);
  train::Plan plan;
  plan.recipe = recipe_from_flags(app, flags.recipe);
  plan.model = model.make;
  plan.task = model.task;
  plan.optimizer = optimizer_named(flags.optimizer, 1e-3f, flags.momentum, 0);
  plan.batch = flags.batch;
  plan.micro_batches = flags.micro_batches;
  plan.recompute = segments_from(app, flags.recompute);
  const train::BatchMaker batch = train::blank(model.batch);
  const Saved saved = flags.saved == "all" ? Saved::all : Saved::lean;
  const std::int64_t budget = flags.budget.empty() ? 0 : bytes_from(flags.budget);
  const bool searches = budget > 0 && app.count("--batch") == 0;
  train::Plan there = plan;
  there.device = Device::meta;
  const std::unique_ptr<nn::Model> shape_alone = train::make_model(there, plan.recipe);
  const std::string name = shape_alone->name(),
                    segments = told_segments(plan.recompute, shape_alone->blocks());
  if (searches) plan.batch = train::largest_batch(plan, batch, budget, saved);

  const char* const things = model.batch.pixels > 0 ? "images" : "texts";
  std::cout << fitted(concat(flags.model.is_bert() ? flags.model.name + ", " : "", name, "; ", model.reads,
                             "; ", flags.optimizer, "; ", describe(plan.recipe), "\n"));
  if (!segments.empty()) std::cout << segments << "\n";
  const std::int64_t shown = std::max<std::int64_t>(1, plan.batch);
  const std::string batches =
      plan.micro_batches == 1 ? "A step of " : concat("A step of ", plan.micro_batches, " x ");
  std::cout << fitted(
      concat(batches, shown, " ", things, plan.batch == 0 ? ", which does not fit" : "", ".\n\n"));
  plan.batch = shown;
  tell_use(plan, batch, saved, flags.ops);
  if (budget > 0 && !searches) {
    const std::int64_t peak = dry_run(plan, batch, saved).peak;
    std::cout << fitted(
        concat("\n", peak <= budget ? "It fits: " : "It does not fit: ", peak, " of ", budget, " bytes\n"));
  }
  if (searches) std::cout << "\nlargest batch " << train::largest_batch(plan, batch, budget, saved) << "\n";
  return 0;
}

}  // namespace tinymp::lab
