#include <tinymp/numeric/recipe.h>
#include <array>

namespace tinymp {
namespace {

struct Named {
  std::string_view name;
  Recipe recipe;
};
constexpr std::array<Named, 16> named_recipes{{
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
    {"fp8_e5m2", recipes::fp8_e5m2},
    {"fp8_hybrid", recipes::fp8_hybrid},
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
    const bool obeyed = field.member == &Roundings::masters || field.member == &Roundings::weights ||
                        (field.member == &Roundings::gradients ? recipe.eight_bits.gradient != DType::f32
                                                               : recipe.eight_bits.any());
    expect(obeyed || mode == nearest, "the recipe rounds ", field.name, " ", name_of(mode),
           ", and no format of this recipe does so; leave their rounding at nearest");
  }
  expect(r.masters == nearest || is_narrow(recipe.master), "the recipe rounds masters ", name_of(r.masters),
         ", but its master is ", recipe.master,
         ", as its updates are: there is nothing to round; take a master of f16 or bf16");
  expect(r.weights == nearest || recipe.eight_bits.any() ||
             (is_narrow(recipe.compute) && recipe.master != recipe.compute),
         "the recipe rounds weights ", name_of(r.weights), ", but computes in ", recipe.compute,
         " with a master in ", recipe.master,
         ": there is nothing to round; take a master of f32 and weights of f16 or bf16, or round masters");
  expect(!recipe.kahan || is_narrow(recipe.master),
         "the recipe compensates updates (kahan), but its master is ", recipe.master,
         ", whose rounding needs no compensation; take a master of f16 or bf16");
  expect(!recipe.kahan || r.masters == nearest, "the recipe compensates updates (kahan) and rounds masters ",
         name_of(r.masters), ": the compensation holds what rounding to nearest lost; take one of the two");
}

namespace {

/// Throws Error for scales of tensors that nothing uses, or that no rule gives.
void expect_scales(const EightBits& e) {
  const EightBits usual;
  expect(e.any() || e.scaling == TensorScaling::none, "the recipe has ", name_of(e.scaling),
         " scales for tensors in FP8, but no product is in FP8; choose formats for them");
  expect(e.scaling == TensorScaling::delayed ||
             (e.margin == usual.margin && e.history == usual.history && e.amax == usual.amax),
         "the recipe has a margin, a history or an algorithm of delayed scales, but its scales are \"",
         name_of(e.scaling), "\"; choose delayed ones");
  expect(e.margin >= -100 && e.margin <= EightBits::largest_margin,
         "the recipe has delayed scales with a margin of ", e.margin, "; it is -100 to ",
         EightBits::largest_margin, ": with more, the scale of a tensor of large numbers would be 0");
  expect(e.history >= 1 && e.history <= EightBits::longest_history,
         "the recipe has delayed scales with a history of ", e.history, " steps; it has 1 to ",
         EightBits::longest_history);
}

}  // namespace

void expect_eight_bits(const Recipe& recipe) {
  const EightBits& e = recipe.eight_bits;
  for (const DType format : {e.forward, e.backward, e.gradient})
    expect(format == DType::f32 || !has_arithmetic(format), "the recipe has products in ", format,
           ", which is not FP8; choose e4m3 or e5m2, or f32 for products as they are");
  expect(e.any() == (e.backward != DType::f32), "the recipe has products in ", e.forward, " forward and in ",
         e.backward, " backward; a product takes two operands in FP8: choose e4m3 or e5m2 for both, or f32");
  expect(e.any() || e.gradient == DType::f32, "the recipe rounds gradients to ", e.gradient,
         ", but no product is in FP8; choose formats for its products, too");
  expect(e.any() || (e.exempt.empty() && !e.saturate),
         "the recipe says how products in FP8 are made, but no product is in FP8; choose formats for them");
  expect_scales(e);
  if (!e.any()) return;
  expect(recipe.autocast == DType::f32, "the recipe has products in FP8 and autocast to ", recipe.autocast,
         "; autocast gives products copies of the weights: take weights of ", recipe.autocast,
         " (compute) instead");
  expect(recipe.accumulate == DType::f32, "the recipe has products in FP8 with sums in ", recipe.accumulate,
         "; their sums are f32");
}

namespace {

/// "E5M2 products, gradients through E5M2 ..." as a part of describe().
std::string describe(const EightBits& e) {
  std::string text = concat(", products ", e.forward, e.backward == e.forward ? "" : concat("/", e.backward));
  if (e.gradient != DType::f32) text += concat(", gradients through ", e.gradient);
  if (e.saturate) text += ", saturating";
  if (e.scaling != TensorScaling::none) text += concat(", ", name_of(e.scaling), " scales");
  const EightBits usual;
  if (e.margin != usual.margin) text += concat(" with margin ", e.margin);
  if (e.history != usual.history) text += concat(" of ", e.history, " steps");
  if (e.amax != usual.amax) text += concat(" by ", name_of(e.amax));
  if (!e.exempt.empty()) text += concat(", but ", e.exempt.text());
  return text;
}

}  // namespace

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
  if (recipe.eight_bits.any()) text += describe(recipe.eight_bits);
  for (const RoundingField& field : rounding_fields)
    if (const Rounding mode = recipe.rounding.*field.member; mode != usual.rounding.*field.member)
      text += concat(", ", field.name, " rounded ", name_of(mode));
  if (recipe.kahan) text += ", Kahan";
  if (recipe.fp32_norm_parameters && recipe.compute != DType::f32) add("batch norm", DType::f32);
  const std::string scaling = describe(recipe.scaling);
  return scaling.empty() ? text : concat(text, ", ", scaling);
}

}  // namespace tinymp
