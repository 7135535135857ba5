#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/data/text.h>
#include <tinymp/nn/language_model.h>
#include <functional>
#include <optional>

/// The training loop of a word model, for lessons 11 and 13: train::run trains on images.
namespace tinymp::lab {

struct WordPlan {
  std::string question;
  Contender contender;
  std::uint64_t seed;
  std::int64_t vocabulary, width;
  std::int64_t rows, length;  ///< of a batch
  std::int64_t steps;
};

/// What a lesson looks at in the steps that are logged: the first, the last and each tenth.
class WordWatcher {
 public:
  virtual ~WordWatcher() = default;
  /// What observes the next step's tape, if anything. It lives until end().
  virtual Observer* begin() { return nullptr; }
  /// After the step: adds to its record, and may return sizes for the page.
  virtual std::optional<train::StepSizes> end(const data::TextBlock&, train::LogRecord&) { return {}; }
};

/// Trains one curve with Adam at lr = 0.005, writes its log and hands it to the report. The metric is a validation
/// perplexity, which `ask` returns; it runs in the formats of training.
void train_words(Lab& lab, const data::Text& text, const WordPlan& plan, WordWatcher& watcher,
                 const std::function<double(const nn::LanguageModel&)>& ask);

}  // namespace tinymp::lab
