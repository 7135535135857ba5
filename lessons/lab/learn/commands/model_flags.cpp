#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/model_flags.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/nn/transformer.h>
#include <CLI/CLI.hpp>

namespace tinymp::lab {
namespace {

constexpr std::int64_t classes = data::image_classes;

/// The networks that have no sizes to choose.
train::ModelMaker convolutional(const CLI::App& app, const ModelFlags& flags, const data::ImageShape& shape) {
  if (app.count("--widths") + app.count("--width") + app.count("--blocks") > 0)
    throw UsageError(
        concat("--widths, --width and --blocks are for other models; ", flags.name, " is what it is"));
  if (flags.name == "lenet")
    return [](const Recipe& recipe, Rng& rng) { return std::make_unique<nn::LeNet>(recipe, rng); };
  const nn::ResNet::Images images{.size = shape.rows, .channels = shape.channels};
  return [images](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::ResNet>(3, images, recipe, rng);
  };
}

std::vector<std::string> text_flags(const ModelFlags& flags) {
  return {"--layers", "--heads", flags.words_of.context, "--vocabulary", "--words", flags.words_of.masked,
          "--dropout"};
}

void add_text_flags(CLI::App& app, ModelFlags& flags, const char* group) {
  const auto size = [&](const char* flag, std::int64_t& value, std::int64_t most, const char* what) {
    app.add_option(flag, value, what)
        ->type_name("N")
        ->check(whole(1, most))
        ->capture_default_str()
        ->group(group);
  };
  size("--layers", flags.layers, 1000, "Of transformer: blocks");
  size("--heads", flags.heads, 1 << 16, "Of transformer: they share the width");
  size(flags.words_of.context.c_str(), flags.context, 1 << 16,
       "Of transformer: tokens of a text that it reads at a time");
  app.add_flag("--words", flags.words, "Of transformer: tokens are words, not characters")->group(group);
  app.add_option("--vocabulary", flags.vocabulary, "Of transformer with --words: the most frequent ones")
      ->type_name("N")
      ->check(whole(2, 1 << 24))
      ->capture_default_str()
      ->group(group);
  app.add_flag(
         flags.words_of.masked, flags.masked,
         "Of transformer: an encoder that names hidden tokens (BERT); else a decoder of the next (GPT-2)")
      ->group(group);
  app.add_option("--dropout", flags.dropout, "Of transformer (0)")
      ->type_name("X")
      ->check(fraction())
      ->group(group);
}

std::size_t count_of_text_flags(const CLI::App& app, const ModelFlags& flags) {
  std::size_t count = 0;
  for (const std::string& flag : text_flags(flags)) count += app.count(flag);
  return count;
}

}  // namespace

void add_model_flags(CLI::App& app, ModelFlags& flags, ModelWords words) {
  const char* const group = "The model";
  flags.words_of = std::move(words);
  std::vector<std::string> names{"mlp", "autoencoder", "residual", "lenet", "resnet20", "transformer"};
  names.insert(names.end(), flags.words_of.more.begin(), flags.words_of.more.end());
  std::string list;
  for (const std::string& name : names)
    list += concat(list.empty() ? "" : name == names.back() ? " or " : ", ", name);
  app.add_option("--model", flags.name, list)
      ->type_name("NAME")
      ->check(CLI::IsMember(names).description(""))
      ->capture_default_str()
      ->group(group);
  app.add_option("--widths", flags.widths,
                 "Of mlp (784,64,10) or autoencoder (784,64,...,784); cifar10: 3072")
      ->type_name("N,N,...")
      ->delimiter(',')
      ->expected(1, 64)
      ->check(whole(1, 1 << 16))
      ->group(group);
  app.add_option("--blocks", flags.blocks, "Of residual")
      ->type_name("N")
      ->check(whole(1, 1000))
      ->capture_default_str()
      ->group(group);
  app.add_option("--width", flags.width, "Of residual and transformer")
      ->type_name("N")
      ->check(whole(1, 1 << 16))
      ->capture_default_str()
      ->group(group);
  add_text_flags(app, flags, group);
}

std::optional<train::TextPlan> text_plan_of(const CLI::App& app, const ModelFlags& flags) {
  if (!flags.reads_text()) {
    if (count_of_text_flags(app, flags) > 0)
      throw UsageError(concat("--layers, --heads, ", flags.words_of.context, ", --words, --vocabulary, ",
                              flags.words_of.masked, " and --dropout are for models of texts, not for ",
                              flags.name));
    return std::nullopt;
  }
  if (app.count("--widths") + app.count("--blocks") > 0)
    throw UsageError("--widths and --blocks are for other models; transformer has --width and --layers");
  if (!flags.words && !flags.words_of.names_vocabulary && app.count("--vocabulary") > 0)
    throw UsageError("--vocabulary is for --words; of characters all are known");
  if (flags.width % flags.heads != 0)
    throw UsageError(concat("--heads ", flags.heads, " do not share --width ", flags.width,
                            "; choose a width that they divide"));
  const auto aim = flags.masked ? data::TextAim::masked_tokens : data::TextAim::next_token;
  return train::TextPlan{.aim = aim, .context = flags.context};
}

train::ModelMaker text_model_maker(const ModelFlags& flags, std::int64_t vocabulary) {
  const auto aim = flags.masked ? data::TextAim::masked_tokens : data::TextAim::next_token;
  const nn::TransformerSizes sizes{.words = data::TextExamples::words_of(vocabulary, aim),
                                   .context = flags.context,
                                   .layers = flags.layers,
                                   .width = flags.width,
                                   .heads = flags.heads,
                                   .dropout = flags.dropout};
  const auto kind = flags.masked ? nn::Transformer::Kind::encoder : nn::Transformer::Kind::decoder;
  return [kind, sizes](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::Transformer>(kind, sizes, recipe, rng);
  };
}

train::ModelMaker model_maker(const CLI::App& app, const ModelFlags& flags, const data::ImageShape& shape) {
  const std::int64_t inputs = shape.size();
  if (inputs != data::ImageShape{}.size() && (flags.name == "lenet" || flags.name == "residual"))
    throw UsageError(concat(flags.name, " takes grey images of 28 x 28; for ", shape.rows, " x ", shape.cols,
                            " x ", shape.channels, " choose mlp, autoencoder or resnet20"));
  if (flags.name == "lenet" || flags.name == "resnet20") return convolutional(app, flags, shape);
  if (flags.name == "residual") {
    if (app.count("--widths") > 0)
      throw UsageError("--widths is for mlp and autoencoder; residual has --width and --blocks");
    return [flags](const Recipe& recipe, Rng& rng) {
      return std::make_unique<nn::ResidualMlp>(flags.width, flags.blocks, recipe, rng);
    };
  }
  if (app.count("--width") + app.count("--blocks") > 0) {
    throw UsageError(concat("--width and --blocks are for residual (--width for transformer, too); ",
                            flags.name, " has --widths"));
  }
  const bool names = flags.name == "mlp";
  std::vector<std::int64_t> widths = flags.widths;
  if (widths.empty())
    widths = names ? std::vector<std::int64_t>{inputs, 64, classes}
                   : std::vector<std::int64_t>{inputs, 64, 32, 64, inputs};
  const std::int64_t outputs = names ? classes : inputs;
  if (widths.size() < 2 || widths.front() != inputs || widths.back() != outputs) {
    throw UsageError(concat("--widths: ", flags.name, " begins with ", inputs, ", the pixels, and ends with ",
                            outputs, names ? ", the classes" : ", the pixels again"));
  }
  return [names, widths](const Recipe& recipe, Rng& rng) -> std::unique_ptr<nn::Model> {
    if (names) return std::make_unique<nn::Mlp>(widths, recipe, rng);
    return std::make_unique<nn::Autoencoder>(widths, recipe, rng);
  };
}

train::Task task_of(const ModelFlags& flags) {
  if (flags.reads_text()) return train::Task::name_tokens;
  return flags.name == "autoencoder" ? train::Task::reconstruct : train::Task::classify;
}

}  // namespace tinymp::lab
