#pragma once

#include <tinymp/train/loop.h>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

/// A model from the command line: its name and its sizes.
namespace tinymp::lab {

/// What a command calls the flags that are not called the same everywhere.
struct ModelWords {
  std::string context = "--context", masked = "--masked";
  std::vector<std::string> more{};  ///< models that only this command knows
  bool names_vocabulary = false;    ///< --vocabulary is for characters, too
};

struct ModelFlags {
  std::string name = "mlp";
  ModelWords words_of{};
  std::vector<std::int64_t> widths;
  std::int64_t width = 64;
  int blocks = 8;
  // Of transformer:
  std::int64_t layers = 2, heads = 4, context = 64, vocabulary = 8192;
  bool words = false, masked = false;
  float dropout = 0;

  bool reads_text() const { return name == "transformer" || name == "lstm" || is_bert(); }
  bool is_bert() const { return name.starts_with("bert-"); }
  data::TextUnit unit() const { return words ? data::TextUnit::word : data::TextUnit::character; }
};

void add_model_flags(CLI::App& app, ModelFlags& flags, ModelWords words = {});

/// Throws UsageError for sizes that the model has no use for, or that do not fit the images,
/// whose shape is `shape`.
train::ModelMaker model_maker(const CLI::App& app, const ModelFlags& flags, const data::ImageShape& shape);

/// The plan of a model that reads texts, without its text; nothing for a model of images. Throws UsageError for flags that
/// the model has no use for.
std::optional<train::TextPlan> text_plan_of(const CLI::App& app, const ModelFlags& flags);
/// A model of texts whose vocabulary has so many tokens.
train::ModelMaker text_model_maker(const ModelFlags& flags, std::int64_t vocabulary);

train::Task task_of(const ModelFlags& flags);  ///< what such a model is asked to do

}  // namespace tinymp::lab
