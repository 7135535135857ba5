#include <lessons/11_language_model/errors.h>
#include <lessons/11_language_model/loop.h>
#include <lessons/lab/words/train_words.h>

namespace tinymp::lab {
namespace {

constexpr std::int64_t looked_at = 1024;  ///< tokens whose errors the page counts by size

class ErrorWatcher final : public WordWatcher {
 public:
  explicit ErrorWatcher(std::int64_t last_step) : last_step_(last_step) {}

  Observer* begin() override { return &errors_.emplace(); }
  std::optional<train::StepSizes> end(const data::TextBlock& block, train::LogRecord& record) override {
    record.flushed = errors_->flushed();
    left.push_back({record.step, errors_->flushed(), errors_->down_kept()});
    if (record.step < last_step_) return {};
    return train::StepSizes{
        record.step,
        record.scale,
        {{"errors at the logits", errors_->sizes(block.targets, looked_at, record.scale), {}}}};
  }

  std::vector<Left> left{};

 private:
  std::int64_t last_step_;
  std::optional<LogitErrors> errors_{};
};

}  // namespace

Trained train_words(Lab& lab, const Contender& contender, std::uint64_t seed) {
  const data::Text& text = lab.text(words);
  const WordPlan plan{.question = survive,
                      .contender = contender,
                      .seed = seed,
                      .vocabulary = words,
                      .width = width,
                      .rows = rows,
                      .length = length,
                      .steps = lab.steps(120, 2)};
  ErrorWatcher watcher(plan.steps);
  Answers answers{};
  train_words(lab, text, plan, watcher, [&](const nn::LanguageModel& model) {
    answers = ask(lab, model, text.validation);
    return answers.perplexity;
  });
  return {std::move(watcher.left), answers};
}

}  // namespace tinymp::lab
