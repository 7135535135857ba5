#include <tinymp/numeric/recipe.h>
#include <array>

namespace tinymp {
namespace {

struct Named {
  std::string_view name;
  Recipe recipe;
};
constexpr std::array<Named, 14> named_recipes{{
    {"fp32", recipes::fp32},
    {"fp16_weights", recipes::fp16_weights},
    {"fp16_master", recipes::fp16_master},
    {"fp16_static", recipes::fp16_static},
    {"fp16_dynamic", recipes::fp16_dynamic},
    {"fp16_sr", recipes::fp16_sr},
    {"bf16", recipes::bf16},
    {"bf16_weights", recipes::bf16_weights},
    {"bf16_sr", recipes::bf16_sr},
    {"bf16_kahan", recipes::bf16_kahan},
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

void expect_roundings(const Recipe& recipe) {
  const Roundings& r = recipe.rounding;
  const Rounding nearest = Rounding::nearest_even;
  for (const RoundingField& field : rounding_fields) {
    const Rounding mode = r.*field.member;
    expect(rounding_named(name_of(mode)).has_value(), "the recipe rounds ", field.name, " ", name_of(mode),
           "; choose nearest, zero or stochastic");
    const bool obeyed = field.member == &Roundings::masters || field.member == &Roundings::weights;
    expect(obeyed || mode == nearest, "the recipe rounds ", field.name, " ", name_of(mode),
           ", and no format of this recipe does so; leave their rounding at nearest");
  }
  expect(r.masters == nearest || is_narrow(recipe.master), "the recipe rounds masters ", name_of(r.masters),
         ", but its master is ", recipe.master,
         ", as its updates are: there is nothing to round; take a master of f16 or bf16");
  expect(r.weights == nearest || (is_narrow(recipe.compute) && recipe.master != recipe.compute),
         "the recipe rounds weights ", name_of(r.weights), ", but computes in ", recipe.compute,
         " with a master in ", recipe.master,
         ": there is nothing to round; take a master of f32 and weights of f16 or bf16, or round masters");
  expect(!recipe.kahan || is_narrow(recipe.master),
         "the recipe compensates updates (kahan), but its master is ", recipe.master,
         ", whose rounding needs no compensation; take a master of f16 or bf16");
  expect(!recipe.kahan || r.masters == nearest, "the recipe compensates updates (kahan) and rounds masters ",
         name_of(r.masters), ": the compensation holds what rounding to nearest lost; take one of the two");
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
  for (const RoundingField& field : rounding_fields)
    if (const Rounding mode = recipe.rounding.*field.member; mode != usual.rounding.*field.member)
      text += concat(", ", field.name, " rounded ", name_of(mode));
  if (recipe.kahan) text += ", Kahan";
  if (recipe.fp32_norm_parameters && recipe.compute != DType::f32) add("batch norm", DType::f32);
  const std::string scaling = describe(recipe.scaling);
  return scaling.empty() ? text : concat(text, ", ", scaling);
}

}  // namespace tinymp
