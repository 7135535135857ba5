#pragma once

#include <tinymp/amp/float8_products.h>
#include <tinymp/data/loader.h>
#include <tinymp/nn/module.h>
#include <tinymp/numeric/recipe.h>
#include <memory>
#include <string>
#include <vector>

/// A trained model read back from its checkpoint, to be asked and not to be trained on.
namespace tinymp::train {

/// What a checkpoint tells of its run. Nothing else is needed: the run's log may be gone.
struct SavedModel {
  std::string path{};                          ///< the file
  std::string name{};                          ///< "mlp 784-64-10"
  std::string data{};                          ///< what it was trained on, as describe(Split) tells
  std::vector<std::string> classes{};          ///< of a folder of pictures; empty for other data
  Recipe recipe{};                             ///< without its loss scaling
  data::ImageShape shape{};                    ///< of the images that it takes
  data::LoaderOptions pixels{};                ///< how its pixels were scaled
  std::int64_t step = 0;                       ///< steps that it was trained for
  std::shared_ptr<const nn::Model> weights{};  ///< the masters, where there are some, as FP32

  DelayedScaleState scales{};  ///< of tensors in FP8, where the recipe has delayed ones

  /// The model under another recipe: the same weights, rounded to its formats.
  std::unique_ptr<nn::Model> under(const Recipe& recipe, Device device = Device::cpu) const;
  /// The products in FP8 of that model. In the eight bits of the run delayed scales are those of its end; in others, of which
  /// no step was measured, current scales take their place.
  Float8Products products(const nn::Model& model, Recipe recipe) const;
};

/// Reads a classifier of images. Throws Error naming `path`, the fault and the way out when the file cannot be read, is
/// damaged, comes from another program or another version, is of a model that names no classes, or lacks a tensor of
/// its model. Allocates no more for the model than a few times what the file holds, whatever the file promises.
SavedModel load_classifier(const std::string& path);

}  // namespace tinymp::train
