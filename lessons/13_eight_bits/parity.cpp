#include <fmt/format.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <lessons/13_eight_bits/words.h>
#include <tinymp/base/error.h>
#include <tinymp/data/cifar.h>
#include <tinymp/data/dataset.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/optim/optimizers.h>
#include <optional>

// FP8 against FP32 by pairs of runs: the same first weights, the same batches, another recipe.
namespace tinymp::lab {
namespace {

const std::string of_paper = "fp8_e5m2", of_hybrid = "fp8_hybrid";

std::vector<Contender> contenders() {
  Recipe paper = recipes::fp8_e5m2;
  paper.scaling = moving_scale;
  return {{in_fp32, recipes::fp32}, {of_paper, paper}, {of_hybrid, recipes::fp8_hybrid}};
}

const std::string lenet = "Parity: LeNet", resnet = "Parity: ResNet-20", autoencoder = "Parity: autoencoder",
                  words = "Parity: word LSTM";

train::Plan lenet_plan(const Lab& lab) {
  return {.question = lenet,
          .model = [](const Recipe& recipe, Rng& rng) { return std::make_unique<nn::LeNet>(recipe, rng); },
          .optimizer = train::optimizer_of<Sgd>({.lr = 0.05f, .momentum = 0.9f}),
          .optimizer_name = "sgd lr=0.05 momentum=0.9 cosine",
          .schedule = ScheduleKind::cosine,
          .steps = lab.steps(400, 4),
          .batch = 64};
}

/// The schedule of lesson 10, shorter.
train::Plan resnet_plan(const Lab& lab, const data::Split& pictures) {
  const data::ImageShape shape = pictures.train.shape;
  const nn::ResNet::Images images{.size = shape.rows, .channels = shape.channels};
  const auto model = [images](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::ResNet>(3, images, recipe, rng);
  };
  return {.question = resnet,
          .data = &pictures,
          .pixels = {.normalise = data::cifar10_statistics, .crop_and_flip = true},
          .model = model,
          .optimizer = train::optimizer_of<Sgd>({.lr = 0.1f, .momentum = 0.9f}),
          .optimizer_name = "sgd lr=0.1 momentum=0.9 cosine warmup=10",
          .schedule = ScheduleKind::cosine,
          .warmup = lab.steps(10, 1),
          .steps = lab.steps(120, 2),
          .batch = 64};
}

/// `times` pairs for each that --seeds asks for.
void train_pairs(Lab& lab, const train::Plan& plan, std::uint64_t times = 1) {
  const std::uint64_t first = lab.seeds().front(), pairs = times * lab.seeds().size();
  for (std::uint64_t seed = first; seed < first + pairs; ++seed) {
    for (const Contender& contender : contenders()) {
      train::Plan one = plan;
      one.name = contender.name, one.recipe = contender.recipe, one.seed = seed;
      lab.train(std::move(one));
    }
  }
}

/// FP8 minus FP32 in points, or FP8 over FP32 minus 1 in %, with its interval; and whether the pairs decide.
void judge(Lab& lab, const std::string& question, bool in_points) {
  const std::vector<double> wide = lab.results(question, in_fp32);
  if (wide.size() < 2) return lab.verdict(question, "One pair says little: give --seeds.");
  std::string text;
  for (const Contender& contender : contenders()) {
    if (contender.name == in_fp32) continue;
    const std::vector<double> narrow = lab.results(question, contender.name);
    std::vector<double> gaps = differences(narrow, wide);
    if (!in_points) {
      gaps = ratios(narrow, wide);
      for (double& gap : gaps) gap = 100 * (gap - 1);
    }
    const Interval found = interval_of(gaps);
    const double widest = in_points ? 2 : 4;
    const bool decided = found.high - found.low <= widest;
    text += fmt::format("{}{} minus FP32: {} {} on average, {} to {}{}.", text.empty() ? "" : " ",
                        contender.name, fixed(found.mean, 2), in_points ? "points" : "%", fixed(found.low, 2),
                        fixed(found.high, 2), decided ? "" : ": undecided");
    const std::string name = fmt::format("{}, {}", question, contender.name);
    lab.number(name + ": mean", found.mean);
    lab.number(name + ": low", found.low);
    lab.number(name + ": high", found.high);
  }
  lab.verdict(question, text);
}

/// CIFAR-10, or nothing where it is not here; with --verify that is a MissingError.
std::optional<data::Split> pictures_of_resnet(Lab& lab) {
  try {
    return data::load_images("cifar10");
  } catch (const MissingError&) {
    if (lab.options().verify && !lab.options().smoke) throw;
    lab.say("\nThe pictures for ResNet-20 are not here: ./learn data cifar10 fetches them.");
    return {};
  }
}

}  // namespace

void compare_in_pairs(Lab& lab) {
  train_pairs(lab, lenet_plan(lab));
  judge(lab, lenet, true);
  train_pairs(lab, autoencoder_plan(lab, autoencoder), 3);  // its pairs scatter most, and take least time
  judge(lab, autoencoder, false);
  if (const std::unique_ptr<data::Text> text = text_of_words(lab)) {
    for (const std::uint64_t seed : lab.seeds())
      for (const Contender& contender : contenders()) train_words(lab, *text, words, contender, seed);
    judge(lab, words, false);
  }
  if (const std::optional<data::Split> pictures = pictures_of_resnet(lab)) {
    train_pairs(lab, resnet_plan(lab, *pictures), 2);
    judge(lab, resnet, true);
  }
}

}  // namespace tinymp::lab
