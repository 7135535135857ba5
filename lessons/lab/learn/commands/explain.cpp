#include <kernels/cuda/executor.h>
#include <kernels/profile.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/commands/model_flags.h>
#include <lessons/lab/learn/commands/recipe_flags.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/table.h>
#include <lessons/lab/report/terminal.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/explain.h>
#include <tinymp/amp/float8_products.h>
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <limits>

// ./learn explain: what one step of a model computes in which format.
namespace tinymp::lab {
namespace {

constexpr data::ImageShape shape;  // of MNIST

/// Grey images, all of class 0: formats do not depend on values.
data::Batch grey(std::int64_t count) {
  const std::vector<float> pixels(static_cast<std::size_t>(count * shape.size()), 0.5f);
  return {Tensor::from({count, shape.size()}, pixels),
          std::vector<std::int32_t>(static_cast<std::size_t>(count), 0)};
}

/// A step in FP8. Delayed scales follow from the step before, so there is one.
std::vector<ExplainedOp> explained_in_eight_bits(const Float8Products& products, const Recipe& recipe,
                                                 const std::function<Tensor()>& step,
                                                 const std::function<std::string(const Tensor&)>& name) {
  if (recipe.eight_bits.scaling == TensorScaling::delayed) {
    products.begin_step();
    explain_step(step);
    products.end_step();
  }
  products.begin_step();
  std::vector<ExplainedOp> ops = explain_step(step, name);
  products.end_step();
  return ops;
}

/// What each product of a step, forward and backward, ran on: a rung of the GEMM ladder, or the definition.
std::string products_table(const kernels::Profile& profile) {
  constexpr report::Align left = report::Align::left, right = report::Align::right;
  report::Table table{{}, {left, left, right, left}, {{"product", "runs on", "calls", "operands"}}};
  std::vector<kernels::ProfileLine> lines = profile.lines();
  std::ranges::stable_sort(lines, {},
                           [](const kernels::ProfileLine& line) { return line.kernel + line.operands; });
  for (const kernels::ProfileLine& line : lines) {
    if (line.kernel.starts_with("gemm") || line.kernel.starts_with("conv2d"))
      table.rows.push_back(
          {line.kernel, line.way.empty() ? "-" : line.way, concat(line.calls), line.operands});
  }
  return report::format_table(table, {.width = std::numeric_limits<int>::max()});
}

/// On Device::cuda, and backward too.
std::string products_there(const train::ModelMaker& make, const Recipe& recipe, train::Task task,
                           const data::Batch& batch) {
  Rng rng(0);
  const std::unique_ptr<nn::Model> made = make(recipe, rng);
  const nn::Model& model = *made;
  nn::move_to(model, Device::cuda);
  const Float8Products products(model, recipe);
  const data::Batch there = data::to(batch, Device::cuda);
  const kernels::Profile profile;
  explain_step([&] {
    const Autocast region(recipe);
    const Float8Products::Region in_eight_bits(products);
    return train::loss_of(task, model, there);
  });
  return concat("\nThe products of a step on ", kernels::executor_name(), ":\n\n", products_table(profile));
}

/// Texts of equal tokens.
data::Batch texts_of(const train::TextPlan& plan, std::int64_t count, std::int64_t vocabulary) {
  const std::vector<std::int32_t> tokens(static_cast<std::size_t>(count * plan.context + 1), 0);
  return data::texts_in_order({tokens, vocabulary, plan.aim, plan.context}, 0, count);
}

/// The tokens of Shakespeare's plays, <unk> among them, or as many words as are asked for.
std::int64_t vocabulary_of(const ModelFlags& flags) { return flags.words ? flags.vocabulary : 66; }

}  // namespace

int explain_command(int argc, char** argv) {
  RecipeFlags recipe_flags;
  ModelFlags model_flags;
  std::int64_t batch = 64;
  std::string device = "cpu";
  CLI::App app("Every op of a model and its loss, with the formats in, out and of the sums.",
               "./learn explain");
  add_model_flags(app, model_flags);
  add_recipe_flags(app, recipe_flags);
  app.add_option("--batch", batch, "Images, or texts, a step")
      ->type_name("N")
      ->check(whole(2, 4096))
      ->capture_default_str();
  app.add_option("--device", device, "cpu or cuda; of cuda also which kernel each product runs on")
      ->type_name("NAME")
      ->check(CLI::IsMember({"cpu", "cuda"}).description(""))
      ->capture_default_str();
  app.footer("Recipes:\n" + recipe_list() + "\nExample:\n  ./learn explain --model resnet20 --recipe o1");
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;

  const Recipe recipe = recipe_from_flags(app, recipe_flags);
  Rng rng(0);
  const std::optional<train::TextPlan> text = text_plan_of(app, model_flags);
  const train::ModelMaker make =
      text ? text_model_maker(model_flags, vocabulary_of(model_flags)) : model_maker(app, model_flags, shape);
  const std::unique_ptr<nn::Model> model = make(recipe, rng);
  const Float8Products products(*model, recipe);
  const data::Batch shown = text ? texts_of(*text, batch, vocabulary_of(model_flags)) : grey(batch);
  const auto step = [&] {
    const Autocast region(recipe);
    const Float8Products::Region in_eight_bits(products);
    return train::loss_of(task_of(model_flags), *model, shown);
  };
  std::cout << fitted(
      concat(model->name(), ", ", batch, text ? " texts, " : " images, ", describe(recipe), "\n\n"));
  if (!recipe.eight_bits.any()) {
    std::cout << fitted(ops_table(explain(step, names_in(*model))));
  } else {
    std::cout << ops_table(explained_in_eight_bits(products, recipe, step, names_in(*model)),
                           report::terminal_width(STDOUT_FILENO));
    if (recipe.eight_bits.scaling == TensorScaling::delayed)
      std::cout << fitted("\nThe scales are those of a second step; in the first step all are 1.\n");
  }
  if (device == "cuda") std::cout << fitted(products_there(make, recipe, task_of(model_flags), shown));
  return 0;
}

}  // namespace tinymp::lab
