#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/model_flags.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/resnet.h>
#include <CLI/CLI.hpp>

namespace tinymp::lab {
namespace {

constexpr std::int64_t classes = data::image_classes;

/// The networks that have no sizes to choose.
train::ModelMaker convolutional(const CLI::App& app, const ModelFlags& flags, const data::ImageShape& shape) {
  if (app.count("--widths") + app.count("--width") + app.count("--blocks") > 0)
    throw UsageError(
        concat("--widths, --width and --blocks are for other models; ", flags.name, " is what it is"));
  if (flags.name == "lenet")
    return [](const Recipe& recipe, Rng& rng) { return std::make_unique<nn::LeNet>(recipe, rng); };
  const nn::ResNet::Images images{.size = shape.rows, .channels = shape.channels};
  return [images](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::ResNet>(3, images, recipe, rng);
  };
}

}  // namespace

void add_model_flags(CLI::App& app, ModelFlags& flags) {
  const char* const group = "The model";
  app.add_option("--model", flags.name, "mlp, autoencoder, residual, lenet or resnet20")
      ->type_name("NAME")
      ->check(CLI::IsMember({"mlp", "autoencoder", "residual", "lenet", "resnet20"}).description(""))
      ->capture_default_str()
      ->group(group);
  app.add_option("--widths", flags.widths,
                 "Of mlp (784,64,10) or autoencoder (784,64,...,784); cifar10: 3072")
      ->type_name("N,N,...")
      ->delimiter(',')
      ->expected(1, 64)
      ->check(whole(1, 1 << 16))
      ->group(group);
  app.add_option("--blocks", flags.blocks, "Of residual")
      ->type_name("N")
      ->check(whole(1, 1000))
      ->capture_default_str()
      ->group(group);
  app.add_option("--width", flags.width, "Of residual")
      ->type_name("N")
      ->check(whole(1, 1 << 16))
      ->capture_default_str()
      ->group(group);
}

train::ModelMaker model_maker(const CLI::App& app, const ModelFlags& flags, const data::ImageShape& shape) {
  const std::int64_t inputs = shape.size();
  if (inputs != data::ImageShape{}.size() && (flags.name == "lenet" || flags.name == "residual"))
    throw UsageError(concat(flags.name, " takes grey images of 28 x 28; for ", shape.rows, " x ", shape.cols,
                            " x ", shape.channels, " choose mlp, autoencoder or resnet20"));
  if (flags.name == "lenet" || flags.name == "resnet20") return convolutional(app, flags, shape);
  if (flags.name == "residual") {
    if (app.count("--widths") > 0)
      throw UsageError("--widths is for mlp and autoencoder; residual has --width and --blocks");
    return [flags](const Recipe& recipe, Rng& rng) {
      return std::make_unique<nn::ResidualMlp>(flags.width, flags.blocks, recipe, rng);
    };
  }
  if (app.count("--width") + app.count("--blocks") > 0) {
    throw UsageError(concat("--width and --blocks are for residual; ", flags.name, " has --widths"));
  }
  const bool names = flags.name == "mlp";
  std::vector<std::int64_t> widths = flags.widths;
  if (widths.empty())
    widths = names ? std::vector<std::int64_t>{inputs, 64, classes}
                   : std::vector<std::int64_t>{inputs, 64, 32, 64, inputs};
  const std::int64_t outputs = names ? classes : inputs;
  if (widths.size() < 2 || widths.front() != inputs || widths.back() != outputs) {
    throw UsageError(concat("--widths: ", flags.name, " begins with ", inputs, ", the pixels, and ends with ",
                            outputs, names ? ", the classes" : ", the pixels again"));
  }
  return [names, widths](const Recipe& recipe, Rng& rng) -> std::unique_ptr<nn::Model> {
    if (names) return std::make_unique<nn::Mlp>(widths, recipe, rng);
    return std::make_unique<nn::Autoencoder>(widths, recipe, rng);
  };
}

train::Task task_of(const ModelFlags& flags) {
  return flags.name == "autoencoder" ? train::Task::reconstruct : train::Task::classify;
}

}  // namespace tinymp::lab
