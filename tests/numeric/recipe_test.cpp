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
  CHECK(names.size() == 16);
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
  CHECK(has_narrow_gradients({.eight_bits = {.forward = DType::e4m3, .backward = DType::e4m3}}));
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

TEST_CASE("recipe: FP8 with scales of tensors") {
  const Recipe& hybrid = recipes::fp8_hybrid;
  CHECK(describe(hybrid) == "bf16, master f32, products e4m3/e5m2, saturating, delayed scales, but last");
  CHECK(recipe_from_name("fp8_hybrid") == hybrid);
  const DelayedScaling usual;  // Transformer Engine's
  CHECK(hybrid.eight_bits.delayed(DType::e4m3) == usual);
  CHECK(hybrid.eight_bits.delayed(DType::e5m2).largest == 57344);
  CHECK(hybrid.scaling == LossScaling(NoScaling{}));
  CHECK(hybrid.eight_bits.gradient == DType::f32);
  Recipe other = hybrid;
  other.eight_bits.margin = 2, other.eight_bits.history = 31;
  other.eight_bits.amax = AmaxAlgorithm::most_recent;
  CHECK(describe(other) ==
        "bf16, master f32, products e4m3/e5m2, saturating, delayed scales with margin 2 of 31 steps by "
        "most_recent, but last");
  for (const std::string& name : recipe_names()) CHECK_NOTHROW(expect_eight_bits(recipe_from_name(name)));
}

TEST_CASE("recipe: scales of tensors that nothing uses, or that no rule gives, are refused") {
  const auto refused = [](auto change) {
    Recipe recipe = recipes::fp8_hybrid;
    change(recipe.eight_bits);
    try {
      expect_eight_bits(recipe);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto says = [&](const std::string& part, auto change) {
    const std::string message = refused(change);
    INFO(message);
    CHECK(message.find(part) != std::string::npos);
  };
  says("current scales for tensors in FP8, but no product is in FP8",
       [](EightBits& e) { e = {.scaling = TensorScaling::current}; });
  says("a margin, a history or an algorithm of delayed scales, but its scales are \"current\"",
       [](EightBits& e) {
         e.scaling = TensorScaling::current;
         e.margin = 1;
       });
  says("scales are \"none\"", [](EightBits& e) {
    e.scaling = TensorScaling::none;
    e.history = 7;
  });
  says("scales are \"torchao\"", [](EightBits& e) {
    e.scaling = TensorScaling::torchao;
    e.amax = AmaxAlgorithm::most_recent;
  });
  says("a margin of 101", [](EightBits& e) { e.margin = 101; });
  says("a margin of -101", [](EightBits& e) { e.margin = -101; });
  says("a history of 0 steps", [](EightBits& e) { e.history = 0; });
  says("a history of 1048577 steps", [](EightBits& e) { e.history = 1048577; });
  CHECK(refused([](EightBits& e) { e.margin = -100, e.history = 1 << 20; }).empty());
  CHECK(refused([](EightBits& e) { e.forward = DType::e5m2, e.saturate = false; }).empty());
  Recipe rounded = recipes::fp8_e5m2;
  rounded.eight_bits.scaling = TensorScaling::delayed;
  rounded.rounding.errors = Rounding::stochastic;
  CHECK_NOTHROW(expect_eight_bits(rounded));
  CHECK_NOTHROW(expect_roundings(rounded));
}

TEST_CASE("recipe: the names of scalings of tensors") {
  CHECK(tensor_scaling_names() == std::vector<std::string>{"none", "current", "torchao", "delayed"});
  CHECK(amax_algorithm_names() == std::vector<std::string>{"max", "most_recent"});
  for (const std::string& name : tensor_scaling_names()) {
    TensorScaling scaling{};
    CHECK((set_by_name(scaling, name) && name_of(scaling) == name));
    CHECK_FALSE(set_by_name(scaling, name + " "));
  }
  for (const std::string& name : amax_algorithm_names()) {
    AmaxAlgorithm algorithm{};
    CHECK((set_by_name(algorithm, name) && name_of(algorithm) == name));
  }
  AmaxAlgorithm kept = AmaxAlgorithm::most_recent;
  CHECK_FALSE(set_by_name(kept, "newest"));
  CHECK(kept == AmaxAlgorithm::most_recent);
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
      "fp16_sr, bf16, bf16_weights, bf16_sr, bf16_kahan, fp8_e5m2, fp8_hybrid, o0, o1, o2, o3");
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
