#include <fmt/format.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/recipe_flags.h>
#include <lessons/lab/report/terminal.h>
#include <CLI/CLI.hpp>
#include <cctype>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <limits>
#include <set>

namespace tinymp::lab {
namespace {

const char* const group = "The recipe";

/// A field of a recipe: its flag, what --help says of it, and what stands before its value in a title.
template <class T>
struct Field {
  const char *flag, *help, *label;
  T Recipe::*member;
};
constexpr Field<DType> formats[] = {
    {"--compute", "Weights and activations", "", &Recipe::compute},
    {"--accumulator", "The running sum inside a matmul", "sums ", &Recipe::accumulate},
    {"--gradient", "Gradients of the parameters", "gradient ", &Recipe::gradient},
    {"--master", "The copy of the weights that is updated", "master ", &Recipe::master},
    {"--state", "The optimizer's moments", "state ", &Recipe::state},
    {"--autocast", "What matmuls run in beside FP32 weights", "autocast ", &Recipe::autocast}};
constexpr Field<bool> switches[] = {
    {"--kahan", "Compensated updates of a narrow master", "Kahan", &Recipe::kahan},
    {"--fp32-norm", "Batch norm's gamma and beta in FP32", "norm f32", &Recipe::fp32_norm_parameters}};

/// The same for a field of Recipe::eight_bits.
struct EightBitsField {
  const char *flag, *help, *label;
  DType EightBits::*member;
};
constexpr EightBitsField eight_bits_formats[] = {
    {"--fp8-forward", "Weights and activations on their way into a product", "products ",
     &EightBits::forward},
    {"--fp8-backward", "Errors on their way into a product", "errors ", &EightBits::backward},
    {"--fp8-gradient", "What gradients of weights are rounded to", "gradients through ",
     &EightBits::gradient}};

/// What a recipe may name: formats that ops compute in, without f64; and no hardware sums in anything but f32 and f16.
std::vector<std::string> choices(const std::string& flag) {
  if (flag == "--accumulator") return {"f32", "f16"};
  std::vector<std::string> names;
  for (const FormatRow& format : format_table)
    if (has_arithmetic(format.dtype) && format.dtype != DType::f64) names.emplace_back(format.name);
  return names;
}

void add_eight_bits(CLI::App& app) {
  for (const EightBitsField& field : eight_bits_formats)
    app.add_option(field.flag)
        ->description(concat(field.help, ": e4m3, e5m2, or f32 for as it is"))
        ->type_name("FORMAT")
        ->check(CLI::IsMember({"e4m3", "e5m2", "f32"}).description(""))
        ->group(group);
  app.add_flag("--fp8-saturate")
      ->description("Numbers beyond FP8's largest become the largest")
      ->group(group);
  const auto add = [&](const char* flag, const char* help, const char* type, const CLI::Validator& check) {
    app.add_option(flag)->description(help)->type_name(type)->check(check)->group(group);
  };
  const auto one_of = [](const std::vector<std::string>& names) {
    return CLI::IsMember(names).description("");
  };
  add("--fp8-scaling", "Scales of tensors in FP8: none, current, torchao or delayed", "KIND",
      one_of(tensor_scaling_names()));
  add("--fp8-margin", "delayed: the scale is 2^M times smaller; -100 to 30", "M",
      whole(-100, EightBits::largest_margin));
  add("--fp8-history", "delayed: the amax of N steps count", "N", whole(1, EightBits::longest_history));
  add("--fp8-amax", "delayed: max or most_recent, of the history", "NAME", one_of(amax_algorithm_names()));
  app.add_option("--fp8-exempt")
      ->description("Layers without FP8, as in first,last,block*")
      ->type_name("NAME,...")
      ->group(group);
}

/// The fields of delayed scaling go with it: a recipe that has it loses them under another kind.
void take_scaling(const CLI::App& app, EightBits& e) {
  const auto text = [&](const char* flag) { return app.get_option(flag)->as<std::string>(); };
  if (app.count("--fp8-scaling") > 0) {
    set_by_name(e.scaling, text("--fp8-scaling"));
    if (e.scaling != TensorScaling::delayed) {
      const EightBits usual;
      e.margin = usual.margin, e.history = usual.history, e.amax = usual.amax;
    }
  }
  for (const char* const flag : {"--fp8-margin", "--fp8-history", "--fp8-amax"})
    if (app.count(flag) > 0 && e.scaling != TensorScaling::delayed)
      throw UsageError(concat(flag, " has no meaning for --fp8-scaling ", name_of(e.scaling),
                              "; see ./learn train --help"));
  if (app.count("--fp8-margin") > 0) e.margin = app.get_option("--fp8-margin")->as<int>();
  if (app.count("--fp8-history") > 0) e.history = app.get_option("--fp8-history")->as<int>();
  if (app.count("--fp8-amax") > 0) set_by_name(e.amax, text("--fp8-amax"));
}

void take_eight_bits(const CLI::App& app, EightBits& eight_bits) {
  for (const EightBitsField& field : eight_bits_formats)
    if (app.count(field.flag) > 0)
      eight_bits.*field.member = dtype_from_name(app.get_option(field.flag)->as<std::string>());
  if (app.count("--fp8-saturate") > 0) eight_bits.saturate = app.get_option("--fp8-saturate")->as<bool>();
  take_scaling(app, eight_bits);
  if (app.count("--fp8-exempt") == 0) return;
  eight_bits.exempt = LayerNames::from(app.get_option("--fp8-exempt")->as<std::string>());
}

void add_format(CLI::App& app, const Field<DType>& field) {
  const std::vector<std::string> names = choices(field.flag);
  app.add_option(field.flag)
      ->description(fmt::format("{}: {} or {}", field.help, fmt::join(names.begin(), names.end() - 1, ", "),
                                names.back()))
      ->type_name("FORMAT")
      ->check(CLI::IsMember(names).description(""))
      ->group(group);
}

/// "--round-masters"
std::string flag_of(const RoundingField& field) { return concat("--round-", field.name); }

void add_rounding(CLI::App& app, const RoundingField& field) {
  app.add_option(flag_of(field))
      ->description(concat("Rounds ", field.help, ": nearest, zero or stochastic"))
      ->type_name("MODE")
      ->check(CLI::IsMember(rounding_names()).description(""))
      ->group(group);
}

template <class T>
CLI::Option* add_field(CLI::App& app, const ScalingField& field) {
  if constexpr (std::same_as<T, bool>) {
    return app.add_flag(field.flag);
  } else if constexpr (std::same_as<T, ScaleFloors>) {
    return app.add_option(field.flag)->type_name("STEP:VALUE,...")->check(scale_floors());
  } else if constexpr (std::integral<T>) {
    const auto least = static_cast<std::int64_t>(field.above) + 1;
    return app.add_option(field.flag)->type_name("N")->check(whole(least, std::numeric_limits<T>::max()));
  } else {
    const CLI::Validator within = inside(field.above, field.below);
    return app.add_option(field.flag)->type_name("X")->check(positive())->check(within);
  }
}

/// A flag for each field that a policy has: "Static: S; dynamic: the first S".
void add_scaling_flags(CLI::App& app) {
  for (const std::string& name : scaling_names()) {
    const LossScaling scaling = *scaling_named(name);
    visit_fields(scaling, [&]<class T>(const ScalingField& field, const T&) {
      std::string help = concat(name, ": ", field.help);
      CLI::Option* option = app.get_option_no_throw(field.flag);
      if (option != nullptr) {
        help = concat(option->get_description(), "; ", help);
      } else {
        option = add_field<T>(app, field);
        help[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(help[0])));
      }
      option->description(help)->group(group);
    });
  }
}

/// Puts what was typed into the fields of the chosen policy; a flag of another policy is refused.
void adjust(const CLI::App& app, LossScaling& scaling) {
  std::set<std::string> taken;
  visit_fields(scaling, [&]<class T>(const ScalingField& field, T& value) {
    taken.insert(field.flag);
    if (app.count(field.flag) == 0) return;
    if constexpr (std::same_as<T, ScaleFloors>)
      value = scale_floors_from(app.get_option(field.flag)->as<std::string>());
    else
      value = app.get_option(field.flag)->as<T>();
  });
  for (const std::string& name : scaling_names()) {
    const LossScaling other = *scaling_named(name);
    visit_fields(other, [&](const ScalingField& field, const auto&) {
      if (app.count(field.flag) == 0 || taken.contains(field.flag)) return;
      throw UsageError(concat(field.flag, " has no meaning for --scaling ", name_of(scaling),
                              "; see ./learn train --help"));
    });
  }
}

}  // namespace

CLI::Validator inside(double above, double below) {
  return {[above, below](std::string& text) {
            const double value = std::strtod(text.c_str(), nullptr);
            if (value > above && value < below) return std::string();
            return concat("takes a number above ", above,
                          std::isfinite(below) ? concat(" and below ", below) : "", ", not '", text, "'");
          },
          ""};
}

CLI::Validator scale_floors() {
  return {[](std::string& text) {
            try {
              if (scale_floors_from(text).count > 0) return std::string();
              return std::string("takes floors, STEP:VALUE,..., not ''");
            } catch (const UsageError& error) {
              return std::string(error.what());
            }
          },
          ""};
}

void add_recipe_flags(CLI::App& app, RecipeFlags& flags) {
  app.add_option("--recipe", flags.recipe, "A named recipe (below); the other flags change it")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(group);
  for (const Field<DType>& field : formats) add_format(app, field);
  for (const RoundingField& field : rounding_fields) add_rounding(app, field);
  add_eight_bits(app);
  for (const Field<bool>& field : switches) app.add_flag(field.flag)->description(field.help)->group(group);
  app.add_option("--scaling", flags.scaling, fmt::format("Of the loss: {}", fmt::join(scaling_names(), ", ")))
      ->type_name("KIND")
      ->check(CLI::IsMember(scaling_names()).description(""))
      ->group(group);
  add_scaling_flags(app);
}

Recipe recipe_from_flags(const CLI::App& app, const RecipeFlags& flags) {
  Recipe recipe = recipe_from_name(flags.recipe);
  for (const Field<DType>& field : formats)
    if (app.count(field.flag) > 0)
      recipe.*field.member = dtype_from_name(app.get_option(field.flag)->as<std::string>());
  for (const Field<bool>& field : switches)
    if (app.count(field.flag) > 0 && app.get_option(field.flag)->as<bool>()) recipe.*field.member = true;
  if (!flags.scaling.empty() && flags.scaling != name_of(recipe.scaling))
    recipe.scaling = *scaling_named(flags.scaling);
  for (const RoundingField& field : rounding_fields)
    if (const std::string flag = flag_of(field); app.count(flag) > 0)
      recipe.rounding.*field.member = *rounding_named(app.get_option(flag)->as<std::string>());
  adjust(app, recipe.scaling);
  try {
    take_eight_bits(app, recipe.eight_bits);
    expect_eight_bits(recipe);
    expect_roundings(recipe);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
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
  const Recipe recipe = recipe_from_flags(app, flags);
  for (const Field<DType>& field : formats) add(field.flag, field.label, recipe.*field.member);
  for (const RoundingField& field : rounding_fields)
    add(flag_of(field).c_str(), concat(field.name, " ").c_str(), name_of(recipe.rounding.*field.member));
  for (const EightBitsField& field : eight_bits_formats)
    add(field.flag, field.label, recipe.eight_bits.*field.member);
  add("--fp8-saturate", "saturating", "");
  add("--fp8-scaling", "scales ", name_of(recipe.eight_bits.scaling));
  add("--fp8-margin", "margin ", recipe.eight_bits.margin);
  add("--fp8-history", "history ", recipe.eight_bits.history);
  add("--fp8-amax", "amax ", name_of(recipe.eight_bits.amax));
  add("--fp8-exempt", "exempt ", recipe.eight_bits.exempt.text());
  for (const Field<bool>& field : switches) add(field.flag, field.label, "");
  visit_fields(recipe.scaling, [&]<class T>(const ScalingField& field, const T& value) {
    if constexpr (std::same_as<T, bool>)
      add(field.flag, field.label, "");
    else
      add(field.flag, concat(field.label, " ").c_str(), value);
  });
  return title;
}

}  // namespace tinymp::lab
