#include <tinymp/numeric/recipe.h>
#include <array>

namespace tinymp {
namespace {

struct Named {
  std::string_view name;
  Recipe recipe;
};
constexpr std::array<Named, 9> named_recipes{{
    {"fp32", recipes::fp32},
    {"fp16_weights", recipes::fp16_weights},
    {"fp16_master", recipes::fp16_master},
    {"fp16_static", recipes::fp16_static},
    {"fp16_dynamic", recipes::fp16_dynamic},
    {"o0", recipes::o0},
    {"o1", recipes::o1},
    {"o2", recipes::o2},
    {"o3", recipes::o3},
}};

}  // namespace

std::vector<std::string> recipe_names() {
  std::vector<std::string> names;
  for (const Named& known : named_recipes) names.emplace_back(known.name);
  return names;
}

Recipe recipe_from_name(const std::string& name) {
  std::string choices;
  for (const Named& known : named_recipes) {
    if (name == known.name) return known.recipe;
    choices += concat(choices.empty() ? "" : ", ", known.name);
  }
  throw UsageError(concat("\"", name, "\" is not a recipe; choose one of ", choices));
}

std::string describe(const Recipe& recipe) {
  const Recipe usual;
  std::string text(name_of(recipe.compute));
  const auto add = [&text](std::string_view what, DType dtype) { text += concat(", ", what, " ", dtype); };
  if (recipe.master != recipe.compute)
    add("master", recipe.master);
  else if (is_narrow(recipe.compute))
    text += ", no master";
  if (recipe.gradient != recipe.compute) add("gradient", recipe.gradient);
  if (recipe.accumulate != usual.accumulate) add("accumulate", recipe.accumulate);
  if (recipe.state != usual.state) add("state", recipe.state);
  if (recipe.autocast != usual.autocast) add("autocast", recipe.autocast);
  if (recipe.fp32_norm_parameters && recipe.compute != DType::f32) add("batch norm", DType::f32);
  const std::string scaling = describe(recipe.scaling);
  return scaling.empty() ? text : concat(text, ", ", scaling);
}

}  // namespace tinymp
