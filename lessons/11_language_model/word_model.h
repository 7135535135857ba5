#pragma once

#include <lessons/learn/experiments.h>
#include <string>

/// The language model of lesson 11 and its training loop: train::run trains on images.
namespace tinymp::lab {

inline const std::string survive = "Do the errors of a word model survive?";
inline constexpr std::int64_t words = 8192;             ///< V
inline constexpr std::int64_t rows = 512, length = 16;  ///< 2^13 tokens a step: V x tokens = 2^26
inline constexpr std::int64_t width = 32;

inline const char *const fp32 = "FP32", *const unscaled = "FP16, S = 1", *const scaled = "FP16, S = 128",
                         *const dynamic = "FP16, dynamic S", *const bf16 = "BF16";
std::vector<Contender> contenders(const Lab& lab);

/// What of the errors at the logits was left, at a step.
struct Left {
  std::int64_t step;
  double flushed, down_kept;  ///< as in LogitErrors
};

/// Tokens from this number on are rare: all but the most frequent.
inline constexpr std::int64_t rare = 1024;

struct Trained {
  std::vector<Left> left;
  double expects_rare;  ///< what probability the model gives to all rare words, on average
};

/// Trains one curve, writes its log and hands it to the report.
Trained train_words(Lab& lab, const Contender& contender, std::uint64_t seed);

}  // namespace tinymp::lab
