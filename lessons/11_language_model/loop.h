#pragma once

#include <lessons/11_language_model/word_model.h>

/// What a training of lesson 11 leaves to look at.
namespace tinymp::lab {

/// How much of the errors at the logits was left at a step.
struct Left {
  std::int64_t step;
  double flushed, down_kept;  ///< as in LogitErrors
};

struct Trained {
  std::vector<Left> left;
  Answers answers;
};

/// Trains one curve, writes its log and hands it to the report.
Trained train_words(Lab& lab, const Contender& contender, std::uint64_t seed);

}  // namespace tinymp::lab
