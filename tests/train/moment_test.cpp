#include <tests/catch.h>
#include <tests/train/rig.h>
#include <tinymp/train/moment.h>
#include <tinymp/train/step.h>

// A run goes back to a moment and takes the same steps again, as the search for a fault does.
namespace tinymp::test {
namespace {

TEST_CASE("a run that goes back to a moment takes the same steps: delayed scales") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp8_hybrid;
  recipe.eight_bits.exempt = {};
  recipe.eight_bits.history = 3;
  const train::Plan plan = small_plan(data, recipe);
  const std::unique_ptr<nn::Model> model = train::make_model(plan, recipe);
  const std::unique_ptr<Optimizer> optimizer = train::make_optimizer(plan, *model);
  LossScaler scaler(recipe.scaling);
  const Float8Products products = train::make_products(plan, *model);
  data::Loader loader = train::make_loader(plan);
  const train::StepRecords records(Device::cpu, kernels::StepRecords());
  const auto take = [&](std::int64_t from, std::int64_t to) {
    std::vector<double> scales;
    for (std::int64_t t = from; t <= to; ++t) {
      start_step(plan, t, *model, *optimizer, scaler, products, {}, next_of(loader, plan), records);
      loader.skip();
      for (const Float8Products::Scale& s : products.scales()) scales.push_back(static_cast<double>(s.scale));
    }
    return scales;
  };
  take(1, 4);
  const train::Moment moment = train::moment_of({*model, *optimizer, scaler, products, loader}, 4);
  const std::vector<double> first = take(5, 10), weights = values_of(*model);
  restore(moment, *model, *optimizer, scaler, products, loader);
  products.set_step(4);
  CHECK(take(5, 10) == first);
  CHECK(values_of(*model) == weights);
}

}  // namespace
}  // namespace tinymp::test
