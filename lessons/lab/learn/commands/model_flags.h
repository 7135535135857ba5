#pragma once

#include <tinymp/train/loop.h>
#include <string>
#include <vector>

namespace CLI {
class App;
}

/// A model from the command line: its name and its sizes.
namespace tinymp::lab {

struct ModelFlags {
  std::string name = "mlp";
  std::vector<std::int64_t> widths;
  std::int64_t width = 64;
  int blocks = 8;
};

void add_model_flags(CLI::App& app, ModelFlags& flags);

/// Throws UsageError for sizes that the model has no use for, or that do not fit the images,
/// whose shape is `shape`.
train::ModelMaker model_maker(const CLI::App& app, const ModelFlags& flags, const data::ImageShape& shape);

train::Task task_of(const ModelFlags& flags);  ///< what such a model is asked to do

}  // namespace tinymp::lab
