#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/nn/language_model.h>
#include <span>
#include <string>

/// The language model of lesson 11, its recipes, and what it is asked.
namespace tinymp::lab {

inline const std::string survive = "Do the errors of a word model survive?";
inline constexpr std::int64_t words = 8192;             ///< V
inline constexpr std::int64_t rows = 512, length = 16;  ///< 2^13 tokens a step: V x tokens = 2^26
inline constexpr std::int64_t width = 32;

inline const char *const fp32 = "FP32", *const unscaled = "FP16, S = 1", *const scaled = "FP16, S = 128",
                         *const dynamic = "FP16, dynamic S", *const bf16 = "BF16";
std::vector<Contender> contenders(const Lab& lab);

/// Tokens from this number on are rare: all but the most frequent.
inline constexpr std::int64_t rare = 1024;

/// Results on a part of the text that no model trains on.
struct Answers {
  double perplexity;  ///< exp of the mean loss
  double rare;        ///< how probable all rare words are together, on average
};
Answers ask(const Lab& lab, const nn::LanguageModel& model, std::span<const std::int32_t> tokens);

}  // namespace tinymp::lab
