#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/train/faults.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/train/meters.h>

/// What "flushed" counts: zero here, not zero in FP32. Zeros that are zero anyway do not count.
namespace tinymp::test {
namespace {

using train::Shadow;
using train::Task;

std::unique_ptr<nn::Mlp> model_of(const Recipe& recipe, std::vector<std::int64_t> widths = {3, 2}) {
  Rng rng(1);
  return std::make_unique<nn::Mlp>(std::move(widths), recipe, rng);
}

void put(const Tensor& t, std::initializer_list<float> values) {
  visit_dtype(t.dtype(), [&]<class T> {
    std::transform(values.begin(), values.end(), t.data<T>(), [](float v) { return converted<T>(v); });
  });
}

void backward(const nn::Model& model, const data::Batch& batch) {
  for (const Tensor& p : tensors(model.parameters())) p.clear_grad();
  Tape tape;
  tape.backward(train::loss_of(Task::classify, model, batch));
}

/// One image of three pixels: white, black, and the faintest that FP16 knows.
data::Batch one_image() {
  return {.images = Tensor::from({1, 3}, std::vector<float>{1, 0, 0x1p-24f}), .labels = {1}};
}

TEST_CASE("flushed: by hand, with a black pixel that is zero in FP32 too") {
  const auto model = model_of(recipes::fp16_master);
  const std::vector<Tensor> p = tensors(model->parameters());
  put(p[0], {0, 0, 0, 0, 0, 0});
  put(p[1], {0, 0});
  const data::Batch batch = one_image();
  Shadow shadow(model_of(recipes::fp32));
  shadow.follow(*model);
  backward(*model, batch);
  // Both classes are at 1/2, dlogits = (1/2, -1/2). The gradients, pixel by pixel:
  //   white  1/2    -1/2
  //   black  0       0        structural: zero in FP32 as well
  //   faint  2^-25  -2^-25    the middle between 0 and FP16's smallest: rounds to zero, flushed
  //   bias   1/2    -1/2
  CHECK(p[0].grad().to_floats() == std::vector<float>{0.5f, -0.5f, 0, 0, 0, 0});
  CHECK(shadow.flushed(Task::classify, *model, {&batch, 1}) == 2.0 / 6);
}

TEST_CASE("flushed: the shadow follows the weights, whatever it held before") {
  const auto model = model_of(recipes::fp16_master);
  const std::vector<Tensor> p = tensors(model->parameters());
  put(p[0], {0, 0, 0, 0, 0, 0});
  put(p[1], {0, 20});
  const data::Batch batch = one_image();
  Shadow shadow(model_of(recipes::fp32));
  shadow.follow(*model);
  backward(*model, batch);
  // Class 1, the label, is sure: dlogits = (e^-20, 0). e^-20 = 2e-9 is zero in FP16, so the white pixel, the
  // faint one and the bias of class 0 are flushed; all of class 1 is zero in FP32 too, and the black pixel.
  CHECK(p[1].grad().to_floats() == std::vector<float>{0, 0});
  CHECK(shadow.flushed(Task::classify, *model, {&batch, 1}) == 1);

  // And again after the weights have moved on.
  put(p[1], {0, 0});
  shadow.follow(*model);
  backward(*model, batch);
  CHECK(shadow.flushed(Task::classify, *model, {&batch, 1}) == 2.0 / 6);
  CHECK(shadow.flushed(Task::classify, *model, {&batch, 1}) == 2.0 / 6);  // a look leaves nothing behind
}

TEST_CASE("flushed: an FP32 model has lost nothing, and gradients that were scaled up are not lost") {
  const auto exact = model_of(recipes::fp32);
  const data::Batch batch = one_image();
  Shadow shadow(model_of(recipes::fp32));
  shadow.follow(*exact);
  backward(*exact, batch);
  CHECK(shadow.flushed(Task::classify, *exact, {&batch, 1}) == 0);

  const auto narrow = model_of(recipes::fp16_master);
  put(narrow->parameters()[0].value, {0, 0, 0, 0, 0, 0});
  put(narrow->parameters()[1].value, {0, 0});
  shadow.follow(*narrow);
  {
    Tape tape;
    tape.backward(scale(train::loss_of(Task::classify, *narrow, batch), 1024));
  }
  CHECK(shadow.flushed(Task::classify, *narrow, {&batch, 1}) == 0);
}

TEST_CASE("flushed: a look changes neither the model nor its gradients") {
  const auto model = model_of(recipes::fp16_master);
  const data::Batch batch = one_image();
  backward(*model, batch);
  const std::vector<double> weights = values_of(*model);
  const std::vector<float> gradient = model->parameters()[0].value.grad().to_floats();
  Shadow shadow(model_of(recipes::fp32));
  shadow.follow(*model);
  static_cast<void>(shadow.flushed(Task::classify, *model, {&batch, 1}));
  CHECK(values_of(*model) == weights);
  CHECK(model->parameters()[0].value.grad().to_floats() == gradient);
}

TEST_CASE("flushed: the shadow drops what the run drops") {
  Scratch scratch;
  const data::Split data = made_up_split();
  for (const std::int64_t closely_every : {0, 1}) {
    train::Plan plan = small_plan(data, recipes::fp32, 4);  // of FP32 nothing is lost beside FP32
    plan.shadow_every = 1;
    plan.histogram_every = closely_every;
    plan.model = [](const Recipe& recipe, Rng& rng) { return std::make_unique<Dropping>(recipe, rng); };
    for (const train::LogRecord& step : train::run(plan, scratch.next()).steps) CHECK(step.flushed == 0);
  }
}

TEST_CASE("a shadow is FP32, and of the same shapes") {
  CHECK_SAYS("Shadow: the shadow must be FP32, this one is f16", Shadow(model_of(recipes::fp16_master)));
  Shadow shadow(model_of(recipes::fp32));
  const auto other = model_of(recipes::fp16_master, {3, 4});
  CHECK_SAYS("copy_parameters", shadow.follow(*other));
}

}  // namespace
}  // namespace tinymp::test
