#pragma once

#include <lessons/lab/learn/commands/model_flags.h>
#include <tinymp/train/dry_run.h>
#include <string>

/// The models that ./learn memory plans: those of ./learn train, the word LSTM of chapter 11, and BERT in its two sizes.
namespace tinymp::lab {

void add_planned_model_flags(CLI::App& app, ModelFlags& flags);

struct PlannedModel {
  train::ModelMaker make;
  train::BatchShape batch;
  train::Task task;
  std::string reads;  ///< "texts of 128 tokens, a class of each by its first token"
};

/// `data` is a data set, whose images have the shape of the batch. Throws UsageError for flags that the model has no use
/// for.
PlannedModel planned_model(const CLI::App& app, const ModelFlags& flags, const std::string& data);

}  // namespace tinymp::lab
