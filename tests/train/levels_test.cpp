#include <tests/catch.h>
#include <tests/train/rig.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/resnet.h>
#include <cmath>
#include <fstream>
#include <iterator>

/// The opt levels O0 to O3, in train::run.
namespace tinymp::test {
namespace {

using namespace train;

Plan plan_of(const data::Split& split, const Recipe& recipe, ModelMaker model) {
  Plan plan;
  plan.name = describe(recipe);
  plan.recipe = recipe;
  plan.data = &split;
  plan.model = std::move(model);
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& r) -> std::unique_ptr<Optimizer> {
    return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = 0.05f, .momentum = 0.9f}, r);
  };
  plan.optimizer_name = "sgd";
  plan.batch = 16;
  plan.steps = 24;
  plan.log_every = 1;
  return plan;
}

template <class Model>
std::unique_ptr<nn::Model> made(Model model) {
  return std::make_unique<Model>(std::move(model));
}

const std::vector<std::pair<std::string, ModelMaker>>& models() {
  static const std::vector<std::pair<std::string, ModelMaker>> all{
      {"mlp",
       [](const Recipe& r, Rng& rng) {
         return made(nn::Mlp({784, 32, 10}, r, rng));
       }},
      {"batch norm mlp",
       [](const Recipe& r, Rng& rng) {
         return made(nn::BatchNormMlp({784, 32, 10}, r, rng));
       }},
      {"residual mlp", [](const Recipe& r, Rng& rng) { return made(nn::ResidualMlp(32, 2, r, rng)); }},
      {"lenet", [](const Recipe& r, Rng& rng) { return made(nn::LeNet(r, rng)); }},
      {"resnet8", [](const Recipe& r, Rng& rng) { return made(nn::ResNet(1, {}, r, rng)); }}};
  return all;
}

double mean_loss(const Run& run, std::size_t first) {
  double sum = 0;
  for (std::size_t i = first; i < first + 4; ++i) sum += run.steps[i].loss / 4;
  return sum;
}

TEST_CASE("levels: every model trains under O1 and O2 as it does under O0") {
  const data::Split split = made_up_split();
  Scratch scratch;
  for (const auto& [name, make] : models()) {
    double fp32 = 0, fp32_end = 0;
    for (const Recipe& recipe : {recipes::o0, recipes::o1, recipes::o2}) {
      INFO(name << ", " << describe(recipe));
      const Run run = train::run(plan_of(split, recipe, make), scratch.next());
      REQUIRE(run.steps.size() == 24);
      for (const LogRecord& step : run.steps) REQUIRE(std::isfinite(step.loss));
      CHECK(run.result->skipped <= 4);                       // a first S that is too high
      CHECK(mean_loss(run, 20) < 0.95 * mean_loss(run, 0));  // lenet is slow: 2.07 of 2.30
      CHECK(run.findings.empty());
      if (recipe == recipes::o0) fp32 = run.steps[0].loss, fp32_end = mean_loss(run, 20);
      CHECK(run.steps[0].loss == Approx(fp32).epsilon(0.001));
      CHECK(std::abs(mean_loss(run, 20) - fp32_end) < 0.01);           // seen: up to 0.003
      CHECK(run.steps[0].loss != (recipe == recipes::o0 ? 0 : fp32));  // it is not FP32
      const Run again = load_run(run.path);
      CHECK(again.header.recipe == recipe);
      CHECK(again.header.recipe.autocast == recipe.autocast);
      CHECK(again.header.recipe.fp32_norm_parameters == recipe.fp32_norm_parameters);
    }
  }
}

TEST_CASE("levels: a log that was written before they were is read as it was meant") {
  const data::Split split = made_up_split();
  Scratch scratch;
  const Run run = train::run(plan_of(split, recipes::fp16_dynamic, models()[0].second), scratch.next());
  std::ifstream in(run.path);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string fields =
      R"("autocast":"f32","fp8_forward":"f32","fp8_backward":"f32","fp8_gradient":"f32",)"
      R"("fp8_saturates":false,"fp8_exempt":"",)"
      R"("fp8_scaling":"none","fp8_margin":0,"fp8_history":1024,"fp8_amax":"max",)"
      R"("round_weights":"nearest","round_activations":"nearest",)"
      R"("round_errors":"nearest","round_gradients":"nearest","round_masters":"nearest","kahan":false,)"
      R"("fp32_norm":false,)";
  REQUIRE(text.find(fields) != std::string::npos);
  text.erase(text.find(fields), fields.size());
  const std::string older = scratch.next();
  std::ofstream(older) << text;
  CHECK(load_run(older).header.recipe == recipes::fp16_dynamic);
}

/// Small updates, as in lesson 05: lr g is less than half of what lies between a weight and its FP16
/// neighbour.
TEST_CASE("levels: with small updates O3 stands still where O2 goes on") {
  const data::Split split = made_up_split();
  Scratch scratch;
  const auto lost = [&](const Recipe& recipe) {
    Plan plan = plan_of(split, recipe, models()[0].second);
    plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& r) -> std::unique_ptr<Optimizer> {
      return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = 1e-4f}, r);
    };
    const Run run = train::run(plan, scratch.next());
    return run.steps.back().underflowed + run.steps.back().absorbed;
  };
  Recipe o2 = recipes::o2;
  o2.scaling = DynamicScaling{.initial = 128};
  CHECK(lost(recipes::o3) > 0.9);
  CHECK(lost(o2) < 0.2);
}

}  // namespace
}  // namespace tinymp::test
