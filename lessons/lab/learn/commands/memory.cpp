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
#include <limits>
#include <optional>

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
  add_batch_flag(app, flags.batch);
  constexpr std::int64_t most_micro_batches = 1024;  // each takes as long as the others, and none more memory
  add_accumulate_flag(app, flags.micro_batches, most_micro_batches);
  add_recompute_flag(app, flags.recompute);
  app.add_option(
         "--budget", flags.budget,
         "Without --batch: look for the largest batch that fits. With it: does it fit? Exit code 1 if "
         "not. 12GB, 16GiB")
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
    "  optimizer    moments, and the histories of delayed FP8 scales\n"
    "  gradients    of the parameters\n"
    "  activations  what forward leaves for backward, autocast's copies of weights\n"
    "               among it\n"
    "  workspace    the batch, temporaries of an op, gradients of activations\n"
    "MB are 10^6 bytes, MiB 2^20, GB 10^9, GiB 2^30.\n"
    "\n"
    "A training needs more than is told here: what a kernel takes while it runs\n"
    "(scratch), which depends on the device; each block is rounded up, by as much as\n"
    "half, and those given back wait in a pool for the next of their size; a driver\n"
    "takes its share of a GPU. So the largest batch of a card of 12 GB is at most the\n"
    "one that --budget 12GB tells.\n"
    "\n"
    "What forward leaves (--saved):\n"
    "  lean  as this library runs: of each op its inputs and its output, and what its\n"
    "        backward needs besides; not what it made inside, nor an operand that\n"
    "        became FP8\n"
    "  all   as in a framework that writes all of that as ops which save their inputs\n"
    "        and outputs: nothing that forward made goes before backward has run\n"
    "        through the op that made it. So the FP32 scores of attention stay, and\n"
    "        its probabilities after dropout. With --recompute: as soon as a segment\n"
    "        runs again\n";

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

/// What a command line asks for.
struct Question {
  train::Plan plan;
  PlannedModel model;
  Saved saved;
  std::int64_t budget;  ///< bytes; 0: none
  bool searches;        ///< for the largest batch

  MemoryUse use() const { return dry_run(plan, train::blank(model.batch), saved); }
  std::string kind(std::int64_t count) const {
    return concat(model.batch.pixels > 0 ? " image" : " text", count == 1 ? "" : "s");
  }
  std::string things(std::int64_t count) const { return concat(count, kind(count)); }
};

Question question_from(const CLI::App& app, const MemoryFlags& flags) {
  Question asked{.plan = {},
                 .model = planned_model(app, flags.model, flags.data),
                 .saved = flags.saved == "all" ? Saved::all : Saved::lean,
                 .budget = flags.budget.empty() ? 0 : bytes_from(flags.budget),
                 .searches = !flags.budget.empty() && app.count("--batch") == 0};
  train::Plan& plan = asked.plan;
  plan.recipe = recipe_from_flags(app, flags.recipe);
  plan.model = asked.model.make;
  plan.task = asked.model.task;
  plan.optimizer = optimizer_named(flags.optimizer, 1e-3f, flags.momentum, 0);
  plan.optimizer_name =
      concat(flags.optimizer, flags.momentum > 0 ? concat(" momentum=", flags.momentum) : "");
  plan.batch = flags.batch;
  plan.micro_batches = flags.micro_batches;
  plan.recompute = segments_from(app, flags.recompute);
  plan.device = Device::meta;
  return asked;
}

/// Model, optimizer, recipe, parameters, segments.
void tell_plan(const Question& asked, const std::string& name) {
  const std::unique_ptr<nn::Model> model = train::make_model(asked.plan, asked.plan.recipe);
  const std::string segments = told_segments(asked.plan.recompute, model->blocks());
  std::int64_t parameters = 0;
  for (const Tensor& p : tensors(model->parameters())) parameters += p.size();
  std::cout << fitted(concat(name, model->name(), "; ", asked.model.reads, "; ", asked.plan.optimizer_name,
                             "; ", describe(asked.plan.recipe), "\n", parameters, " parameters.\n"));
  if (!segments.empty()) std::cout << segments << "\n";
}

void tell_batch(const Question& asked, bool fits) {
  const std::int64_t k = asked.plan.micro_batches, n = asked.plan.batch;
  const std::string samples = k == 1 ? asked.things(n)
                                     : concat(train::describe_batch({.batch = n, .micro_batches = k}),
                                              asked.kind(k * n), ", ", k * n, " in all");
  std::cout << fitted(concat("A step of ", samples, fits ? "" : ", which does not fit", ".\n\n"));
}

/// One sentence: the bytes of a plan beside those of another.
void tell_beside(const char* what, const MemoryUse& use, const MemoryUse& other) {
  const auto share = [](std::int64_t of, std::int64_t whole) {
    return report::fixed_digits(static_cast<double>(of) / static_cast<double>(whole), 3);
  };
  std::cout << fitted(concat("Beside ", what, ": ", share(use.peak, other.peak), " of its peak, ",
                             share(use.most[MemoryKind::activations], other.most[MemoryKind::activations]),
                             " of its activations.\n"));
}

/// What the plan takes, and beside it what it takes in FP32, and leaner.
void tell_use(const Question& asked, const MemoryUse& use, std::int64_t ops) {
  std::optional<MemoryUse> in_fp32, lean;
  Question other = asked;
  if (asked.saved == Saved::all) {
    other.saved = Saved::lean;
    lean = other.use();
    other.saved = Saved::all;
  }
  if (!(asked.plan.recipe == recipes::fp32)) {
    other.plan.recipe = recipes::fp32;
    in_fp32 = other.use();
    other.plan.recipe = asked.plan.recipe;
  }
  std::vector<Column> columns{{"bytes", use.most, use.peak, 0},
                              {"MB", use.most, use.peak, 1e6},
                              {"MiB", use.most, use.peak, 0x1p20},
                              {"at the peak", use.at_peak, use.peak, 1e6}};
  if (lean) columns.push_back({"lean", lean->most, lean->peak, 1e6});
  if (in_fp32) columns.push_back({"FP32", in_fp32->most, in_fp32->peak, 1e6});
  std::cout << fitted(concat("The most of each kind, and of their sum. In MB: at the peak",
                             lean ? "; what a lean framework keeps" : "", in_fp32 ? "; in FP32" : "",
                             ".\n\n"))
            << fitted(table_of_kinds(columns))
            << fitted(concat("\nThe peak comes in: ", describe(use.heaviest), ".\n"));
  if (in_fp32) tell_beside("FP32", use, *in_fp32);
  if (lean) tell_beside("lean", use, *lean);
  if (asked.plan.recompute.any()) {
    other.plan.recompute = {};
    const MemoryUse kept = other.use();
    tell_beside("a step without recomputation", use, kept);
    if (use.peak >= kept.peak) std::cout << "Recomputation saves nothing here.\n";
  }
  if (ops > 0)
    std::cout << fitted("\nThe activations when they are most, by the ops that keep them:\n\n")
              << fitted(table_of_ops(use, ops));
}

/// The last line. Returns the exit code.
int answer(const Question& asked, std::int64_t largest, std::int64_t peak) {
  if (asked.searches) {
    const bool is_all = largest == train::most_in_batch(asked.model.batch);
    std::cout << "\nWith at most " << asked.budget << " bytes:\nlargest batch " << largest
              << (is_all ? " or more" : "") << "\n";
    return 0;
  }
  if (asked.budget == 0) return 0;
  const bool fits = peak <= asked.budget;
  std::cout << fitted(
      concat("\n", fits ? "It fits: " : "It does not fit: ", peak, " of ", asked.budget, " bytes\n"));
  return fits ? 0 : 1;
}

}  // namespace

int memory_command(int argc, char** argv) {
  MemoryFlags flags;
  CLI::App app(
      "The bytes that the steps of a training take, by kind and by op. The step runs on shapes alone: no "
      "tensor takes memory, and the bytes are those of a real step.",
      "./learn memory");
  add_memory_flags(app, flags);
  app.footer(concat(about, "\nRecipes:\n", recipe_list(),
                    "\nExamples:\n"
                    "  ./learn memory --model resnet20 --recipe fp16_dynamic --batch 128\n"
                    "  ./learn memory --model bert-base --optimizer adam --budget 12GB\n"
                    "  ./learn memory --model bert-large --sequence 512 --saved all --batch 8"));
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;

  Question asked = question_from(app, flags);
  tell_plan(asked, flags.model.is_bert() ? flags.model.name + ", " : "");
  std::int64_t largest = 0;
  if (asked.searches) {
    largest = train::largest_batch(asked.plan, asked.model.batch, asked.budget, asked.saved);
    asked.plan.batch = std::max<std::int64_t>(1, largest);
  }
  tell_batch(asked, !asked.searches || largest > 0);
  const MemoryUse use = asked.use();
  tell_use(asked, use, flags.ops);
  return answer(asked, largest, use.peak);
}

}  // namespace tinymp::lab
