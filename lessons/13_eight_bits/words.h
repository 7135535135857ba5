#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/data/text.h>
#include <memory>

/// The word model of lesson 11 in a smaller size, with products in FP8.
namespace tinymp::lab {

inline constexpr std::int64_t vocabulary = 2048, words_rows = 32, words_length = 16, words_width = 32;

/// The text of the chapter, or nothing where it is not here; with --verify that is a MissingError.
std::unique_ptr<data::Text> text_of_words(Lab& lab);

/// Trains one curve, writes its log and hands it to the report. The metric is the validation perplexity.
void train_words(Lab& lab, const data::Text& text, const std::string& question, const Contender& contender,
                 std::uint64_t seed);

}  // namespace tinymp::lab
