#pragma once

#include <lessons/lab/learn/lab.h>
#include <memory>
#include <string>

/// What lesson 14 asks, and what it trains for an answer.
namespace tinymp::lab {

inline const std::string parity = "A decoder: do sixteen and eight bits end as FP32 does?",
                         long_parity = "A decoder for 3,000 steps: do they still end together?",
                         by_hand = "Attention by hand: what breaks it in FP16?",
                         small_batch = "A batch of 2: do accumulated gradients help?",
                         norms = "Batch norm: is 2 x 16 a batch of 32?";

inline const std::string in_fp32 = "FP32";

// Numbers, without training.
/// The bytes of BERT's steps, by a dry run: kinds, batches that fit, the saving of FP16, the growth with T. (bytes.cpp)
void show_bytes(Lab& lab);
/// What T tokens do to a softmax in FP16, and what masks do. (tensors.cpp)
void show_attention(Lab& lab);
/// Means of unequal parts, and 8 x 32 against 256. (sums.cpp)
void show_sums(Lab& lab, const data::Text* text);
/// The largest S at which sums of gradients in FP16 stay finite. (sums.cpp)
void show_overflow(Lab& lab);
/// Bytes, time and bits of a model whose blocks run again. (again.cpp)
void show_recomputation(Lab& lab);

// Questions, with training.
void ask_parity(Lab& lab, const data::Text& text);   ///< decoder.cpp; with --full ten times as long
void ask_by_hand(Lab& lab, const data::Text& text);  ///< decoder.cpp
void ask_small_batch(Lab& lab);                      ///< small_batch.cpp
void ask_norms(Lab& lab);                            ///< small_batch.cpp

/// Shakespeare's plays in characters, or nothing where they are not here. With --verify, and with --full, which trains on
/// nothing else, that is a MissingError. (decoder.cpp)
std::unique_ptr<data::Text> characters(Lab& lab);

/// The widths of the decoders that this lesson trains.
inline constexpr std::int64_t context = 64, decoder_width = 64, decoder_layers = 2;

/// A run of some hundred steps is too short for the usual interval of 2000 steps.
inline constexpr DynamicScaling moving_scale{.growth_interval = 100};

/// FP16 with FP32 masters and a dynamic S.
constexpr Recipe fp16_moving() {
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = moving_scale;
  return recipe;
}

}  // namespace tinymp::lab
