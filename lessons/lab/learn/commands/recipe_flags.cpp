#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/recipe_flags.h>
#include <lessons/lab/report/terminal.h>
#include <CLI/CLI.hpp>
#include <cstdlib>
#include <limits>

namespace tinymp::lab {
namespace {

const char* const group = "The recipe";

void add_format(CLI::App& app, const std::string& flag, std::string& target, const std::string& what) {
  std::vector<std::string> formats = {"f32", "f16"};
  if (flag != "--accumulate") formats.push_back("bf16");  // no hardware sums in it
  app.add_option(flag, target, what + (formats.size() > 2 ? ": f32, f16 or bf16" : ": f32 or f16"))
      ->type_name("FORMAT")
      ->check(CLI::IsMember(formats).description(""))
      ->group(group);
}

void override_format(DType& format, const std::string& name) {
  if (!name.empty()) format = dtype_from_name(name);
}

void expect_unused(const CLI::App& app, std::initializer_list<const char*> flags,
                   const std::string& scaling) {
  for (const char* flag : flags) {
    if (app.count(flag) == 0) continue;
    throw UsageError(concat(flag, " has no meaning for --scaling ", scaling, "; see ./learn train --help"));
  }
}

void adjust(const CLI::App& app, const RecipeFlags&, NoScaling&) {
  expect_unused(app, {"--loss-scale", "--skip-nonfinite", "--growth", "--backoff", "--growth-interval"},
                "none");
}

void adjust(const CLI::App& app, const RecipeFlags& flags, StaticScaling& scaling) {
  expect_unused(app, {"--growth", "--backoff", "--growth-interval"}, "static");
  if (app.count("--loss-scale") > 0) scaling.factor = flags.loss_scale;
  if (app.count("--skip-nonfinite") > 0) scaling.skip_nonfinite = flags.skip_nonfinite;
}

void adjust(const CLI::App& app, const RecipeFlags& flags, DynamicScaling& scaling) {
  expect_unused(app, {"--skip-nonfinite"}, "dynamic");
  if (app.count("--loss-scale") > 0) scaling.initial = flags.loss_scale;
  if (app.count("--growth") > 0) scaling.growth = flags.growth;
  if (app.count("--backoff") > 0) scaling.backoff = flags.backoff;
  if (app.count("--growth-interval") > 0) scaling.growth_interval = flags.growth_interval;
}

/// After positive(), so that it is a number.
CLI::Validator on_side_of_one(bool above) {
  return {[above](std::string& text) {
            const double value = std::strtod(text.c_str(), nullptr);
            if (above ? value > 1 : value < 1) return std::string();
            return concat("takes a number ",
                          above ? "above 1, so that S grows" : "below 1, so that S shrinks", ", not '", text,
                          "'");
          },
          ""};
}

LossScaling scaling_named(const std::string& name) {
  if (name == "static") return StaticScaling{};
  if (name == "dynamic") return DynamicScaling{};
  return NoScaling{};
}

}  // namespace

void add_recipe_flags(CLI::App& app, RecipeFlags& flags) {
  app.add_option("--recipe", flags.recipe, "A named recipe (below); the other flags change it")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(group);
  add_format(app, "--compute", flags.compute, "Weights and activations");
  add_format(app, "--accumulate", flags.accumulate, "The running sum inside a matmul");
  add_format(app, "--gradient", flags.gradient, "Gradients of the parameters");
  add_format(app, "--master", flags.master, "The copy of the weights that is updated");
  add_format(app, "--state", flags.state, "The optimizer's moments");
  add_format(app, "--autocast", flags.autocast, "What matmuls run in beside FP32 weights");
  app.add_flag("--fp32-norm", flags.fp32_norm, "Batch norm's gamma and beta in FP32")->group(group);
  app.add_option("--scaling", flags.scaling, "Of the loss: none, static or dynamic")
      ->type_name("KIND")
      ->check(CLI::IsMember({"none", "static", "dynamic"}).description(""))
      ->group(group);
  app.add_option("--loss-scale", flags.loss_scale, "S (static) or the first S (dynamic)")
      ->type_name("S")
      ->check(positive())
      ->group(group);
  app.add_flag("--skip-nonfinite", flags.skip_nonfinite, "Static: skip steps with gradients that overflow")
      ->group(group);
  app.add_option("--growth", flags.growth, "Dynamic: S times X after enough good steps")
      ->type_name("X")
      ->check(positive())
      ->check(on_side_of_one(true))
      ->group(group);
  app.add_option("--backoff", flags.backoff, "Dynamic: S times X after a bad step")
      ->type_name("X")
      ->check(positive())
      ->check(on_side_of_one(false))
      ->group(group);
  app.add_option("--growth-interval", flags.growth_interval, "Dynamic: how many good steps are enough")
      ->type_name("N")
      ->check(whole(1, std::numeric_limits<int>::max()))
      ->group(group);
}

Recipe recipe_from_flags(const CLI::App& app, const RecipeFlags& flags) {
  Recipe recipe = recipe_from_name(flags.recipe);
  override_format(recipe.compute, flags.compute);
  override_format(recipe.accumulate, flags.accumulate);
  override_format(recipe.gradient, flags.gradient);
  override_format(recipe.master, flags.master);
  override_format(recipe.state, flags.state);
  override_format(recipe.autocast, flags.autocast);
  if (flags.fp32_norm) recipe.fp32_norm_parameters = true;
  if (!flags.scaling.empty() && scaling_named(flags.scaling).index() != recipe.scaling.index()) {
    recipe.scaling = scaling_named(flags.scaling);
  }
  std::visit([&](auto& scaling) { adjust(app, flags, scaling); }, recipe.scaling);
  return recipe;
}

std::string recipe_list() {
  std::string text;
  for (const std::string& name : recipe_names())
    text += "  " + report::pad(name, 14) + describe(recipe_from_name(name)) + "\n";
  return text;
}

std::string recipe_title(const CLI::App& app, const RecipeFlags& flags) {
  std::string title = flags.recipe;
  if (!flags.scaling.empty()) title += flags.scaling == "none" ? ", no scaling" : ", " + flags.scaling;
  const auto add = [&](const char* flag, const char* what, const auto& value) {
    if (app.count(flag) > 0) title += concat(", ", what, value);
  };
  add("--compute", "", flags.compute);
  add("--accumulate", "sums ", flags.accumulate);
  add("--gradient", "gradient ", flags.gradient);
  add("--master", "master ", flags.master);
  add("--state", "state ", flags.state);
  add("--autocast", "autocast ", flags.autocast);
  add("--fp32-norm", "norm f32", "");
  add("--loss-scale", "S ", flags.loss_scale);
  add("--skip-nonfinite", "skips", "");
  add("--growth", "growth ", flags.growth);
  add("--backoff", "backoff ", flags.backoff);
  add("--growth-interval", "interval ", flags.growth_interval);
  return title;
}

}  // namespace tinymp::lab
