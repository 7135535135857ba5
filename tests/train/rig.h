#pragma once

#include <tinymp/base/rng.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/loop.h>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

/// Made-up images and short plans: training without a data set on disk.
namespace tinymp::test {

/// Each class lights a stripe of its own, with noise; the outer frame is always black, as with digits.
inline data::Dataset made_up_images(std::int64_t count, std::uint64_t seed) {
  data::Dataset set{.name = "made up", .count = count, .images = {}, .labels = {}};
  Rng rng(seed);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto label = static_cast<std::int64_t>(rng.below(10));
    set.labels.push_back(static_cast<std::uint8_t>(label));
    for (std::int64_t row = 0; row < 28; ++row) {
      for (std::int64_t col = 0; col < 28; ++col) {
        const auto noise = static_cast<std::uint8_t>(rng.below(64));
        const bool frame = row < 3 || row > 24 || col < 3 || col > 24;
        const bool stripe = (col - 3) / 2 == label;
        set.images.push_back(frame ? std::uint8_t{0} : stripe ? std::uint8_t{220} : noise);
      }
    }
  }
  return set;
}

inline data::Split made_up_split() {
  return {.train = made_up_images(96, 1), .validation = made_up_images(16, 2), .test = made_up_images(48, 3)};
}

/// A folder of its own for the logs of one test; gone with it.
class Scratch {
 public:
  Scratch() {
    for (int i = 0; path_.empty(); ++i) {
      const auto candidate =
          std::filesystem::temp_directory_path() / ("tinymp-test-train-" + std::to_string(i));
      if (std::filesystem::create_directory(candidate)) path_ = candidate;
    }
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// A path that no run was written to yet.
  std::string next() { return (path_ / ("run-" + std::to_string(++runs_) + ".jsonl")).string(); }

 private:
  std::filesystem::path path_;
  int runs_ = 0;
};

inline train::OptimizerMaker sgd(float lr, float momentum = 0) {
  return [=](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = lr, .momentum = momentum}, recipe);
  };
}

/// A small classifier on made-up images.
inline train::Plan small_plan(const data::Split& data, const Recipe& recipe = {}, std::int64_t steps = 12) {
  train::Plan plan;
  plan.lesson = "test";
  plan.question = "Does it train?";
  plan.name = describe(recipe);
  plan.recipe = recipe;
  plan.data = &data;
  plan.model = [](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 12, 10}, r, rng);
  };
  plan.optimizer = sgd(0.05f);
  plan.optimizer_name = "sgd lr=0.05";
  plan.steps = steps;
  plan.batch = 16;
  plan.log_every = 1;
  return plan;
}

inline std::vector<double> values_of(const nn::Model& model) {
  std::vector<double> values;
  for (const Tensor& p : tensors(model.parameters())) {
    const std::vector<double> more = p.to_doubles();
    values.insert(values.end(), more.begin(), more.end());
  }
  return values;
}

}  // namespace tinymp::test
