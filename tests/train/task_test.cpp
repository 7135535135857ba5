#include <tests/catch.h>
#include <tests/train/rig.h>
#include <tinymp/train/task.h>
#include <cmath>
#include <limits>

namespace tinymp::test {
namespace {

using train::Task;

/// Hands the first `outputs` pixels on as they are, times a factor.
class FirstPixels : public nn::Model {
 public:
  explicit FirstPixels(std::int64_t outputs, float factor = 1) : outputs_(outputs), factor_(factor) {}
  Tensor operator()(const Tensor& images) const override {
    const std::int64_t B = images.shape()[0], pixels = images.shape()[1];
    const std::vector<float> in = images.to_floats();
    std::vector<float> out;
    for (std::int64_t b = 0; b < B; ++b) {
      for (std::int64_t o = 0; o < outputs_; ++o)
        out.push_back(factor_ * in[static_cast<std::size_t>(b * pixels + o)]);
    }
    return Tensor::from({B, outputs_}, out);
  }
  std::vector<nn::Parameter> parameters() const override { return {}; }
  std::string name() const override { return "first pixels"; }

 private:
  std::int64_t outputs_;
  float factor_;
};

/// `count` black images; `lit(i)` is the pixel that shines in image i, labels(i) its label.
template <class Lit, class Label>
data::Dataset lit_images(std::int64_t count, Lit lit, Label label) {
  data::Dataset set{.name = "lit",
                    .count = count,
                    .images = std::vector<std::uint8_t>(static_cast<std::size_t>(count * 784)),
                    .labels = {}};
  for (std::int64_t i = 0; i < count; ++i) {
    set.images[static_cast<std::size_t>(i * 784 + lit(i))] = 255;
    set.labels.push_back(static_cast<std::uint8_t>(label(i)));
  }
  return set;
}

TEST_CASE("measure: accuracy is the share of right answers, over batches that are not full as well") {
  // 2300 images are two batches of 1000 and one of 300. The class is i mod 10; every fourth label is another.
  const data::Dataset set = lit_images(
      2300, [](std::int64_t i) { return i % 10; },
      [](std::int64_t i) { return i % 4 == 0 ? (i + 1) % 10 : i % 10; });
  CHECK(train::measure(Task::classify, FirstPixels(10), set) == Approx(75));
}

TEST_CASE("measure: of equal logits the first counts - one that is not finite is no answer") {
  const data::Dataset set = lit_images(
      10, [](std::int64_t) { return 700; }, [](std::int64_t i) { return i; });
  CHECK(train::measure(Task::classify, FirstPixels(10), set) == Approx(10));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(train::measure(Task::classify, FirstPixels(10, nan), set)));
  const float infinity = std::numeric_limits<float>::infinity();
  CHECK(std::isnan(train::measure(Task::classify, FirstPixels(10, infinity), set)));
}

TEST_CASE("measure: reconstruction is the mean over all pixels, each image with one weight") {
  // The first 1000 images are lit in the corner, the last 200 are too, but drawn half as bright: error .25 /
  // 784.
  const data::Dataset set = lit_images(
      1200, [](std::int64_t i) { return i < 1000 ? 0 : 783; }, [](std::int64_t) { return 0; });
  CHECK(train::measure(Task::reconstruct, FirstPixels(784, 0.5f), set) == Approx(0.25 / 784));
  // Half of the error in one of two uneven batches: each image counts once.
  class OnlyCorner : public FirstPixels {
   public:
    OnlyCorner() : FirstPixels(784) {}
    Tensor operator()(const Tensor& images) const override {
      std::vector<float> in = images.to_floats();
      for (std::size_t i = 783; i < in.size(); i += 784) in[i] = 0;
      return Tensor::from(images.shape(), in);
    }
  };
  CHECK(train::measure(Task::reconstruct, OnlyCorner(), set) == Approx(200.0 / 1200 / 784));
  CHECK(std::isnan(
      train::measure(Task::reconstruct, FirstPixels(784, std::numeric_limits<float>::quiet_NaN()), set)));
}

TEST_CASE("measure looks at the images as the options say") {
  const data::Dataset set = lit_images(
      20, [](std::int64_t i) { return 28 * (i % 10); }, [](std::int64_t i) { return i % 10; });
  CHECK(train::measure(Task::classify, FirstPixels(10), set) == Approx(10));
  CHECK(train::measure(Task::classify, FirstPixels(10), set, {.transpose = true}) == Approx(100));
}

TEST_CASE("loss_of: cross-entropy of the logits, or mean squared error to the image itself, in FP32") {
  const data::Split split = made_up_split();
  const data::Batch batch = data::InOrder(split.train, 8)[0];
  Rng rng(1);
  const nn::Mlp classifier({784, 10}, recipes::fp16_master, rng);
  const nn::Autoencoder autoencoder({784, 4, 784}, recipes::fp16_master, rng);
  const Tensor a = train::loss_of(Task::classify, classifier, batch),
               b = train::loss_of(Task::reconstruct, autoencoder, batch);
  CHECK(a.dtype() == DType::f32);
  CHECK(b.dtype() == DType::f32);
  CHECK(a.item() == cross_entropy(classifier(batch.images), batch.labels).item());
  CHECK(b.item() == mse(autoencoder(batch.images), batch.images).item());
}

TEST_CASE("measuring records nothing and asks for no gradient") {
  const data::Split split = made_up_split();
  Rng rng(2);
  const nn::Mlp model({784, 10}, {}, rng);
  const double value = train::measure(Task::classify, model, split.test);
  CHECK(value >= 0);
  CHECK(value <= 100);
  for (const Tensor& p : tensors(model.parameters())) CHECK_FALSE(static_cast<bool>(p.grad()));
}

TEST_CASE("metrics have names, and a better side") {
  CHECK(std::string(train::metric_name(Task::classify)) == "test accuracy (%)");
  CHECK(std::string(train::metric_name(Task::reconstruct)) == "test MSE");
  CHECK(train::higher_is_better(Task::classify));
  CHECK_FALSE(train::higher_is_better(Task::reconstruct));
}

}  // namespace
}  // namespace tinymp::test
