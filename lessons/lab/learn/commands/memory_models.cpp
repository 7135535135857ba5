#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/memory_models.h>
#include <lessons/lab/learn/commands/train_flags.h>
#include <lessons/lab/learn/lab.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/nn/transformer.h>
#include <CLI/CLI.hpp>
#include <algorithm>

namespace tinymp::lab {
namespace {

using nn::Transformer;

/// Devlin et al. 2019 (arXiv 1810.04805), section 3: BERT-base and BERT-large; appendix A.2: dropout of 0.1 everywhere. The
/// vocabulary is that of the published model in lower case, 30,522 pieces of words, the mask among them.
nn::TransformerSizes bert_sizes(const std::string& name) {
  const bool is_large = name == "bert-large";
  return {.words = 30522,
          .context = 512,
          .layers = is_large ? 24 : 12,
          .width = is_large ? 1024 : 768,
          .heads = is_large ? 16 : 12,
          .dropout = 0.1f};
}
constexpr std::int64_t usual_sequence = 128;  // of bert
constexpr std::int64_t text_classes = 2;

/// 15 % of the tokens, as data::TextExamples asks for them.
std::int64_t masked_of(std::int64_t steps) {
  const std::vector<std::int32_t> text(static_cast<std::size_t>(steps), 0);
  return data::TextExamples(text, 2, data::TextAim::masked_tokens, steps).asked();
}

std::string reads(const train::BatchShape& shape, bool masked) {
  if (shape.pixels > 0) return concat("images of ", shape.pixels, " values");
  const std::string texts = concat("texts of ", shape.steps, shape.steps == 1 ? " token" : " tokens");
  if (masked) return concat(texts, ", ", shape.asked, shape.asked == 1 ? " of them" : " of each", " hidden");
  return texts + (shape.asked == 0 ? ", the next token of each" : ", a class of each by its first token");
}

PlannedModel bert(const CLI::App& app, const ModelFlags& flags) {
  for (const char* const flag :
       {"--widths", "--width", "--blocks", "--layers", "--heads", "--vocabulary", "--words"})
    if (app.count(flag) > 0)
      throw UsageError(concat(flag, " is for other models; ", flags.name, " is what it is"));
  nn::TransformerSizes sizes = bert_sizes(flags.name);
  const std::int64_t steps = app.count("--sequence") > 0 ? flags.context : usual_sequence;
  if (steps > sizes.context)
    throw UsageError(
        concat("--sequence ", steps, ": ", flags.name, " reads at most ", sizes.context, " tokens"));
  if (app.count("--dropout") > 0) sizes.dropout = flags.dropout;
  if (!flags.masked) sizes.classes = text_classes;
  const train::BatchShape shape{.steps = steps, .asked = flags.masked ? masked_of(steps) : 1};
  return {[sizes](const Recipe& recipe, Rng& rng) {
            return std::make_unique<Transformer>(Transformer::Kind::encoder, sizes, recipe, rng);
          },
          shape, train::Task::name_tokens, reads(shape, flags.masked)};
}

constexpr std::int64_t most_steps_of_lstm = 4096;

PlannedModel lstm(const CLI::App& app, const ModelFlags& flags) {
  for (const char* const flag :
       {"--widths", "--blocks", "--layers", "--heads", "--words", "--masked-words", "--dropout"})
    if (app.count(flag) > 0)
      throw UsageError(concat(flag, " is for other models; lstm has --width, --vocabulary and --sequence"));
  if (flags.context > most_steps_of_lstm)
    throw UsageError(concat("--sequence ", flags.context,
                            ": a dry run of lstm takes each token as a step of its own; "
                            "choose at most ",
                            most_steps_of_lstm));
  const train::BatchShape shape{.steps = flags.context};
  return {[flags](const Recipe& recipe, Rng& rng) {
            return std::make_unique<nn::LanguageModel>(flags.vocabulary, flags.width, recipe, rng);
          },
          shape, train::Task::name_tokens, reads(shape, false)};
}

/// What the model is made for: --vocabulary, or what ./learn train takes without it.
struct Vocabulary {
  std::int64_t size;
  std::string of;
};
Vocabulary vocabulary_of(const CLI::App& app, const ModelFlags& flags) {
  if (app.count("--vocabulary") > 0) return {flags.vocabulary, "--vocabulary"};
  const data::Text text = chosen_text("", most_tokens(flags), flags.unit());
  return {std::ssize(text.vocabulary), text.name};
}

PlannedModel transformer(const CLI::App& app, const ModelFlags& flags) {
  const train::TextPlan plan = text_plan_of(app, flags).value();
  const train::BatchShape shape{.steps = plan.context, .asked = flags.masked ? masked_of(plan.context) : 0};
  const Vocabulary vocabulary = vocabulary_of(app, flags);
  return {
      text_model_maker(flags, vocabulary.size), shape, train::Task::name_tokens,
      concat(reads(shape, flags.masked), "; a vocabulary of ", vocabulary.size, " (", vocabulary.of, ")")};
}

}  // namespace

void add_planned_model_flags(CLI::App& app, ModelFlags& flags) {
  add_model_flags(app, flags,
                  {.context = "--sequence",
                   .masked = "--masked-words",
                   .more = {"lstm", "bert-base", "bert-large"},
                   .names_vocabulary = true});
  app.get_option("--width")->description("Of residual, transformer and lstm");
  app.get_option("--sequence")
      ->description("Of transformer, lstm (64) and bert (128, at most 512): tokens of a text")
      ->default_str("");
  app.get_option("--vocabulary")
      ->description(
          "Of lstm (8192); of transformer: that of the text which ./learn train reads without --data")
      ->default_str("");
  app.get_option("--masked-words")
      ->description(
          "Of transformer: an encoder. Of bert: the output over the vocabulary for 15 % of the tokens, as in "
          "pre-training; else 2 classes for the first token of a text, as in fine-tuning");
  app.get_option("--dropout")->description("Of transformer (0) and bert (0.1)");
}

PlannedModel planned_model(const CLI::App& app, const ModelFlags& flags, const std::string& data) {
  if (flags.reads_text() && !data.empty())
    throw UsageError(concat("--data is for models of images; ", flags.name, " reads texts"));
  if (flags.is_bert()) return bert(app, flags);
  if (flags.name == "lstm") return lstm(app, flags);
  if (flags.name == "transformer") return transformer(app, flags);
  static_cast<void>(text_plan_of(app, flags));  // refuses flags for texts
  const data::ImageShape images = data.empty() ? data::ImageShape{} : data::image_shape(data);
  const train::BatchShape shape{.pixels = images.size()};
  return {model_maker(app, flags, images), shape, task_of(flags), reads(shape, false)};
}

}  // namespace tinymp::lab
