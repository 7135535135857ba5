#pragma once

#include <lessons/lab/learn/lab.h>
#include <string>
#include <vector>

/// What lesson 12 trains: the fine-tuning of lesson 05 with other ways to round, and the autoencoder of lesson 06 in BF16.
namespace tinymp::lab {

inline constexpr const char *no_master = "Do updates survive without a master?",
                            *narrow_moments = "May Adam keep its moments in BF16?",
                            *needs_scale = "Does BF16 need a loss scale?";

// The curves, as tables and figures name them.
inline const std::string in_fp32 = "FP32", bf16_master = "BF16 + FP32 master", bf16_nearest = "BF16 weights",
                         bf16_random = "BF16, stochastic", bf16_kahan = "BF16, Kahan",
                         bf16_zero = "BF16, toward zero", fp16_nearest = "FP16 weights",
                         fp16_random = "FP16, stochastic", fp16_master = "BF16 + FP16 master",
                         fp16_master_random = "BF16 + FP16 master, stochastic";

std::vector<Contender> ways_to_round();

/// The ways that trained, with Adam's two moments in BF16. Their names are those of ways_to_round().
std::vector<Contender> with_bf16_moments();

/// The plan of a run that fine-tunes `start`. With the sabotage every step uses the same random words.
train::Plan rounding_plan(const Lab& lab, const char* question, const Contender& contender,
                          std::uint64_t seed, const nn::Model& start);

/// The optimizer of the plan. --sabotage words: it uses the random words of the first step in each step.
std::unique_ptr<Optimizer> sabotaged_if_asked(const Lab& lab, std::unique_ptr<Optimizer> optimizer);

/// What BF16 can hold, and what becomes of one weight. (one_weight.cpp)
void show_numbers(Lab& lab);
void show_one_weight(Lab& lab);
/// Many weights with equal small updates: which share of them has moved after eight steps?
void show_random_words(Lab& lab);

/// The bytes a parameter of the arenas that Adam has. (bytes.cpp)
void show_bytes(Lab& lab);

/// The autoencoder of lesson 06 in BF16 and FP16 without a loss scale. (range.cpp)
void ask_about_range(Lab& lab);

}  // namespace tinymp::lab
