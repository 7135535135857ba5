#include <tests/catch.h>
#include <tinymp/base/error.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/train/predict.h>
#include <cmath>
#include <limits>

using namespace tinymp;

TEST_CASE("predict: shares are the softmax of float64") {
  const std::vector<float> logits = {1.5f, -3.25f, 80.0f, 79.0f, -500.0f};
  const train::Prediction made = train::prediction_from(logits);
  double sum = 0, total = 0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x) - 80);
  for (std::size_t i = 0; i < logits.size(); ++i) {
    CHECK(std::abs(made.shares[i] - std::exp(static_cast<double>(logits[i]) - 80) / sum) < 1e-15);
    total += made.shares[i];
  }
  CHECK(std::abs(total - 1) < 1e-15);
  CHECK(made.answer == 2);
  CHECK(train::prediction_from({4, 7, 7}).answer == 1);
  CHECK_THROWS_AS(train::prediction_from({}), Error);
}

TEST_CASE("predict: a logit that is not finite is no answer") {
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    const train::Prediction made = train::prediction_from({1, bad});
    CHECK(!made.is_finite);
    CHECK(std::isnan(made.shares[0]));
  }
}

TEST_CASE("predict: one answer for each image, the model's own logits") {
  Rng rng(1);
  const nn::Mlp model({784, 10}, recipes::fp32, rng);
  data::Dataset images{"two", 2, std::vector<std::uint8_t>(2 * 784, 50), {0, 0}};
  images.images[1000] = 255;
  const std::vector<train::Prediction> made = train::predict(model, images, {});
  REQUIRE(made.size() == 2);
  const std::vector<float> logits = model(data::InOrder(images, 2)[0].images).to_floats();
  for (std::size_t i = 0; i < 20; ++i) CHECK(made[i / 10].logits[i % 10] == logits[i]);
}
