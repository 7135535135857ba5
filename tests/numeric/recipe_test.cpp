#include <tests/catch.h>
#include <tinymp/numeric/recipe.h>

namespace tinymp::test {
namespace {

TEST_CASE("recipe: names") {
  CHECK(recipe_from_name("fp32") == recipes::fp32);
  CHECK(recipe_from_name("fp16_weights") == recipes::fp16_weights);
  CHECK(recipe_from_name("fp16_master") == recipes::fp16_master);
  CHECK(recipe_from_name("fp16_static") == recipes::fp16_static);
  CHECK(recipe_from_name("fp16_dynamic") == recipes::fp16_dynamic);
  CHECK(recipe_from_name("o0") == recipes::fp32);
  CHECK(recipe_from_name("o1") == recipes::o1);
  CHECK(recipe_from_name("o2") == recipes::o2);
  CHECK(recipe_from_name("o3") == recipes::o3);
}

TEST_CASE("recipe: every name that is listed is a recipe, and the refusal of another lists them all") {
  const std::vector<std::string> names = recipe_names();
  CHECK(names.size() == 15);
  std::string choices;
  for (const std::string& name : names) {
    CHECK_NOTHROW(recipe_from_name(name));
    choices += (choices.empty() ? "" : ", ") + name;
  }
  CHECK_THROWS_WITH(recipe_from_name("o4"), "\"o4\" is not a recipe; choose one of " + choices);
}

TEST_CASE("recipe: what the named ones mean") {
  CHECK(recipes::fp32 == Recipe{});
  CHECK(recipes::fp16_weights.master == DType::f16);
  CHECK(recipes::fp16_master.master == DType::f32);
  CHECK(recipes::fp16_master.scaling == LossScaling(NoScaling{}));
  CHECK(std::get<StaticScaling>(recipes::fp16_static.scaling).factor == 1024);
  // The defaults of torch.amp.GradScaler.
  const auto dynamic = std::get<DynamicScaling>(recipes::fp16_dynamic.scaling);
  CHECK(dynamic.initial == 65536);
  CHECK(dynamic.growth == 2);
  CHECK(dynamic.backoff == 0.5);
  CHECK(dynamic.growth_interval == 2000);
  for (const Recipe& recipe :
       {recipes::fp16_weights, recipes::fp16_master, recipes::fp16_static, recipes::fp16_dynamic}) {
    CHECK(recipe.compute == DType::f16);
    CHECK(recipe.gradient == DType::f16);
    CHECK(recipe.accumulate == DType::f32);
    CHECK(recipe.state == DType::f32);
  }
}

TEST_CASE("recipe: which gradients are narrow") {
  CHECK_FALSE(has_narrow_gradients(recipes::fp32));
  CHECK_FALSE(has_narrow_gradients({.state = DType::f16, .scaling = StaticScaling{}}));
  CHECK_FALSE(has_narrow_gradients({.compute = DType::f64, .accumulate = DType::f64}));
  CHECK(has_narrow_gradients({.compute = DType::bf16}));
  CHECK(has_narrow_gradients({.accumulate = DType::f16}));
  CHECK(has_narrow_gradients({.gradient = DType::f16}));
  CHECK(has_narrow_gradients({.autocast = DType::f16}));
}

TEST_CASE("recipe: the levels O0 to O3") {
  CHECK(describe(recipes::o0) == "f32");
  CHECK(describe(recipes::o1) == "f32, autocast f16, S dynamic from 65536");
  CHECK(describe(recipes::o2) == "f16, master f32, batch norm f32, S dynamic from 65536");
  CHECK(describe(recipes::o3) == "f16, no master, state f16");
  CHECK(describe({.fp32_norm_parameters = true}) == "f32");
}

TEST_CASE("recipe: BF16, and weights without a master that are rounded in other ways") {
  CHECK(describe(recipes::bf16) == "bf16, master f32");
  CHECK(describe(recipes::bf16_weights) == "bf16, no master");
  CHECK(describe(recipes::bf16_sr) == "bf16, no master, masters rounded stochastic");
  CHECK(describe(recipes::bf16_kahan) == "bf16, no master, Kahan");
  CHECK(describe(recipes::fp16_sr) == "f16, no master, masters rounded stochastic, S dynamic from 65536");
  CHECK(describe({.compute = DType::bf16, .rounding = {.weights = Rounding::toward_zero}}) ==
        "bf16, master f32, gradient f32, weights rounded zero");
  for (const std::string& name : recipe_names()) CHECK_NOTHROW(expect_roundings(recipe_from_name(name)));
}

TEST_CASE("recipe: the names of roundings") {
  CHECK(rounding_names() == std::vector<std::string>{"nearest", "zero", "stochastic"});
  for (const std::string& name : rounding_names()) CHECK(name_of(*rounding_named(name)) == name);
  CHECK_FALSE(rounding_named("up"));
  CHECK_FALSE(rounding_named(""));
}

TEST_CASE("recipe: an unknown name is refused with the choices") {
  CHECK_THROWS_AS(recipe_from_name("fp8"), UsageError);
  CHECK_THROWS_WITH(
      recipe_from_name("FP32"),
      "\"FP32\" is not a recipe; choose one of fp32, fp16_weights, fp16_master, fp16_static, fp16_dynamic, "
      "fp16_sr, bf16, bf16_weights, bf16_sr, bf16_kahan, fp8_e5m2, o0, o1, o2, o3");
}

TEST_CASE("recipe: described in one line") {
  CHECK(describe(recipes::fp32) == "f32");
  CHECK(describe(recipes::fp16_weights) == "f16, no master");
  CHECK(describe(recipes::fp16_master) == "f16, master f32");
  CHECK(describe(recipes::fp16_static) == "f16, master f32, S static 1024");
  CHECK(describe(recipes::fp16_dynamic) == "f16, master f32, S dynamic from 65536");
}

TEST_CASE("recipe: the description tells every field that is not as usual") {
  CHECK(describe({.compute = DType::f16}) == "f16, master f32, gradient f32");
  CHECK(describe({.compute = DType::f16, .accumulate = DType::f16, .gradient = DType::f16}) ==
        "f16, master f32, accumulate f16");
  CHECK(describe({.compute = DType::bf16, .gradient = DType::bf16}) == "bf16, master f32");
  CHECK(describe({.compute = DType::bf16, .gradient = DType::bf16, .master = DType::bf16}) ==
        "bf16, no master");
  CHECK(describe({.master = DType::f16, .state = DType::f16}) == "f32, master f16, state f16");
  CHECK(
      describe(
          {.compute = DType::f64, .accumulate = DType::f64, .gradient = DType::f64, .master = DType::f64}) ==
      "f64, accumulate f64");
  CHECK(describe({.scaling = StaticScaling{.factor = 16777216, .skip_nonfinite = true}}) ==
        "f32, S static 16777216, skips non-finite steps");
  CHECK(describe({.scaling =
                      DynamicScaling{.initial = 8, .growth = 4, .backoff = 0.25, .growth_interval = 100}}) ==
        "f32, S dynamic from 8, times 4 after 100 good steps, times 0.25 after a bad one");
}

}  // namespace
}  // namespace tinymp::test
