#pragma once

#include <lessons/lab/report/table.h>
#include <tinymp/data/dataset.h>
#include <tinymp/train/predict.h>
#include <span>
#include <string>
#include <vector>

/// What a model says of a picture, and what it was shown, as text.
namespace tinymp::report {

std::string share_text(double share);  ///< 0.9631 -> "96.3 %"; NaN -> "NaN"

/// The name of class `c`; "class 7" where the model's data had no such class. Safe for a terminal.
std::string class_name(std::span<const std::string> names, std::size_t c, bool unicode);

/// "7  96.3 %"; "no answer  NaN" where a logit is not finite.
std::string answer_line(const train::Prediction& prediction, std::span<const std::string> names,
                        bool unicode);

/// A line a class: its name, a bar, its share. A class without a name has a line only where it has 0.1 % or more.
std::string class_bars(const train::Prediction& prediction, std::span<const std::string> names,
                       const TerminalStyle& style);

/// An image (H,W,C), two columns a pixel, in a frame; colours as their grey levels.
std::string image_text(std::span<const std::uint8_t> pixels, const data::ImageShape& shape,
                       const TerminalStyle& style);

/// The answers of one model under one recipe to all images, in their order.
struct Answers {
  std::string name{};  ///< of the recipe
  Recipe recipe{};
  std::vector<train::Prediction> predictions{};
  bool is_own = false;  ///< the model was trained so
};

/// How the answers under a recipe differ from those in FP32.
struct AnswerCounts {
  std::int64_t right = 0, changed = 0, not_finite = 0;
  double largest_difference = 0;  ///< |logit - logit in FP32|; infinite or NaN where a logit is
};
/// `labels` may be empty: then nothing is right.
AnswerCounts count_answers(std::span<const train::Prediction> answers,
                           std::span<const train::Prediction> fp32, std::span<const std::uint8_t> labels);

/// A row a recipe: its formats; for one image its answer and share, for more the accuracy (with labels) and how many
/// answers changed; the largest difference of a logit from FP32, which `fp32` holds.
Table answers_table(std::span<const Answers> all, std::span<const train::Prediction> fp32,
                    std::span<const std::uint8_t> labels, std::span<const std::string> names, bool unicode);

/// The same for other programs, with the logits of each picture that has a name.
std::string answers_json(std::span<const Answers> all, std::span<const train::Prediction> fp32,
                         std::span<const std::uint8_t> labels, std::span<const std::string> names,
                         std::span<const std::string> pictures, const std::string& model);

}  // namespace tinymp::report
