#pragma once

#include <tinymp/train/checkpoint_model.h>
#include <string>
#include <vector>

/// The recipes under which ./learn predict asks a model. Of a recipe only the formats of weights, matmuls and sums,
/// what becomes FP8, and the format of batch norm matter to an answer: fp16_static and fp16_weights give the same one.
namespace tinymp::lab {

struct Way {
  std::string name;  ///< "fp32", "fp16_sum16": with sums in FP16
  Recipe recipe;
};

/// For --help: the names, with what they mean.
inline constexpr const char* ways_help =
    "Recipes: fp32, fp16, bf16 (of weights and matmuls), o1 (FP32 weights, FP16\n"
    "matmuls), o2 (fp16 with batch norm in FP32), those of ./learn train, or all.\n"
    "NAME_sum16 adds up in FP16. On --device cuda sums are those of the GPU's tensor\n"
    "cores, or of the one that TINYMP_EMULATE=h100 (v100, a100, ada, h200, b200)\n"
    "stands for.";

/// True when both give the same answers.
bool answer_alike(const Recipe& a, const Recipe& b);

/// The ways that --recipe NAME[,NAME] or "all" names for a model. Throws UsageError for an unknown name, a name
/// given twice, and one that `device` does not have.
std::vector<Way> ways_from(const std::string& names, const train::SavedModel& model, Device device);

/// The way that the model was trained in.
Way own_way(const train::SavedModel& model);

}  // namespace tinymp::lab
