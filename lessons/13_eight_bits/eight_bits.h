#pragma once

#include <lessons/lab/learn/lab.h>
#include <string>

/// What lesson 13 asks, and what it trains for an answer.
namespace tinymp::lab {

inline const std::string easy = "An easy classifier: does it notice eight bits?",
                         errors_format = "Which eight bits for errors?",
                         stored_weights = "May weights lie in eight bits?",
                         small_in_e5m2 = "An autoencoder in E5M2: do its gradients survive?",
                         spurious = "What if overflows come without a cause?",
                         word_model = "A word model in E5M2: which S?",
                         growing = "A scale for each tensor: delayed or current?";

inline const std::string in_fp32 = "FP32";

// Numbers, without training.
/// Range and bits of E5M2 and E4M3 beside FP16, and what rounding the operands does to a product. (formats.cpp)
void show_formats(Lab& lab);
/// What a tensor core of Hopper keeps of a sum of FP8 products. (accumulators.cpp)
void show_accumulators(Lab& lab);
/// S under the scalers of other libraries, on one trace of overflows. (scalers.cpp)
void show_scalers(Lab& lab);
/// Where libraries for FP8 do not agree. (disagreements.cpp)
void show_disagreements(Lab& lab);
/// The bytes of a step in FP32, FP16 and FP8. (bytes.cpp)
void show_bytes(Lab& lab);

// Questions, with training.
void ask_easy(Lab& lab);      ///< classifier.cpp
void ask_errors(Lab& lab);    ///< classifier.cpp
void ask_stored(Lab& lab);    ///< stored.cpp
void ask_small(Lab& lab);     ///< gradients.cpp
void ask_spurious(Lab& lab);  ///< gradients.cpp
void ask_words(Lab& lab);     ///< words.cpp
void ask_growing(Lab& lab);   ///< scales.cpp

/// --full: pairs of runs in FP32 and FP8 for many seeds. (parity.cpp)
void compare_in_pairs(Lab& lab);

/// The autoencoder of lesson 06, in FP32 until the recipe is set. (gradients.cpp)
train::Plan autoencoder_plan(const Lab& lab, const std::string& question);

/// The paper's recipe (Mellempudi et al. 2019) with E5M2 in every layer, the first and the last too.
constexpr Recipe e5m2_everywhere(LossScaling scaling) {
  Recipe recipe = recipes::fp8_e5m2;
  recipe.eight_bits.exempt = {};
  recipe.scaling = scaling;
  return recipe;
}

/// A run of some hundred steps is too short for the usual interval of 2000 steps.
inline constexpr DynamicScaling moving_scale{.growth_interval = 100};

}  // namespace tinymp::lab
