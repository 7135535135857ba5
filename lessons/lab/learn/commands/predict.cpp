#include <unistd.h>

#include <kernels/cuda/executor.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/commands/predict_subject.h>
#include <lessons/lab/learn/commands/predict_ways.h>
#include <lessons/lab/learn/find_runs.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/prediction_text.h>
#include <lessons/lab/report/write_file.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/base/parallel_for.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>

// ./learn predict: what a trained model says of a picture, a folder or a data set.
namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;

struct PredictFlags {
  std::string what, checkpoint, recipe, json, device = "cpu";
  int threads = 0;
  std::int64_t limit = 0;
  bool plain = false;
};

/// A ResNet-20 takes minutes for 10,000 images under all recipes, and so does an emulated GPU; other models
/// take seconds. Where recipes are compared, these two are asked about the first images only, unless told
/// otherwise.
constexpr std::int64_t few_images = 1000;

void add_flags(CLI::App& app, PredictFlags& flags) {
  app.add_option("PICTURE", flags.what,
                 "A picture (PNG, JPEG, BMP, PGM, PPM), a folder of them, or mnist, fashion, cut, cifar10");
  app.add_option("--checkpoint", flags.checkpoint, "The trained model: a run's folder, or a file of it")
      ->type_name("RUN");
  app.add_option("--recipe", flags.recipe, "Ask under these recipes, not the one it was trained in; or all")
      ->type_name("NAME,...")
      ->check(CLI::Validator(
          [](std::string& text) {
            return text.empty() ? std::string("takes names of recipes, not ''") : std::string();
          },
          ""));
  app.add_option("--limit", flags.limit,
                 "Only the first N images of a data set (1000 where --recipe would take minutes: resnet20 "
                 "and emulated GPUs; else all)")
      ->type_name("N")
      ->check(whole(1, 1'000'000));
  app.add_option("--json", flags.json, "Answers and figures for other programs")->type_name("FILE");
  app.add_option("--threads", flags.threads, "Changes the time, not the results (all cores)")
      ->type_name("N")
      ->check(whole(1, 1024));
  app.add_option("--device", flags.device, "cpu or cuda")
      ->type_name("NAME")
      ->check(CLI::IsMember({"cpu", "cuda"}).description(""))
      ->capture_default_str();
  app.add_flag("--plain", flags.plain, "ASCII only, no colour");
  app.footer(concat(ways_help,
                    "\n\n"
                    "Examples:\n"
                    "  ./learn predict photo.jpg --checkpoint runs/train-001\n"
                    "  ./learn predict photo.jpg --checkpoint runs/train-001 --recipe fp32,fp16\n"
                    "  ./learn predict mnist --checkpoint runs/train-001 --recipe all"));
}

void check(const PredictFlags& flags) {
  if (flags.what.empty())
    throw UsageError("predict what? Name a picture, a folder of them, or mnist, fashion, cut, cifar10");
  if (flags.checkpoint.empty())
    throw UsageError(
        "--checkpoint RUN is missing: the folder of a trained model, as runs/train-001; ./learn runs "
        "lists them");
}

std::string checkpoint_file(const std::string& named) {
  std::error_code ignored;
  if (!fs::exists(named, ignored))
    throw UsageError(concat("--checkpoint: there is no ", excerpt(named, 200),
                            "; name the folder of a run, or a checkpoint in it"));
  if (!fs::is_directory(named, ignored)) return named;
  const std::string file = (fs::path(named) / "checkpoint.safetensors").string();
  if (!fs::exists(file, ignored))
    throw UsageError(
        concat("--checkpoint: ", excerpt(named, 200), " has no checkpoint.safetensors",
               one_below(named, "/checkpoint.safetensors", "; ./learn train saves one in its run's folder")));
  return file;
}

/// Keeps the first images of a data set, and says so in its name.
void limit(const PredictFlags& flags, const train::SavedModel& model, Subject& subject) {
  const bool is_set = subject.names.empty();
  if (flags.limit > 0 && !is_set)
    throw UsageError("--limit is for data sets; of a folder name one with fewer pictures");
  const bool is_emulated = flags.device == "cuda" && kernels::executor() == kernels::Executor::emulation;
  const bool is_slow = (is_emulated || model.name.starts_with("resnet")) && !flags.recipe.empty();
  const std::int64_t most = flags.limit > 0 ? flags.limit : is_slow ? few_images : subject.images.count;
  data::Dataset& images = subject.images;
  if (!is_set || images.count <= most) return;
  subject.what = concat("the first ", most, " images of ", subject.what,
                        flags.limit > 0 ? "" : "; --limit N takes more");
  images.count = most;
  images.labels.resize(static_cast<std::size_t>(most));
  images.images.resize(static_cast<std::size_t>(most * images.shape.size()));
}

/// Asks in batches; the casts of the recipe hold around the model as they do in training.
report::Answers answers_of(const Way& way, const train::SavedModel& model, const Subject& subject,
                           Device device) {
  const Autocast region(way.recipe);
  const std::unique_ptr<nn::Model> under = model.under(way.recipe, device);
  const Float8Products products = model.products(*under, way.recipe);
  const Float8Products::Region in_eight_bits(products);
  return {way.name, way.recipe, train::predict(*under, subject.images, model.pixels, device),
          answer_alike(way.recipe, own_way(model).recipe)};
}

/// What was asked, and what came of it.
struct Asked {
  const train::SavedModel& model;
  const Subject& subject;
  std::vector<std::string> classes;
  std::vector<report::Answers> answers;  ///< under each recipe, in their order
  std::vector<train::Prediction> fp32;   ///< for differences
  report::TerminalStyle style;

  std::span<const std::uint8_t> labels() const {
    if (!subject.has_labels) return {};
    return subject.images.labels;
  }
};

Asked ask(const PredictFlags& flags, const train::SavedModel& model, const Subject& subject) {
  const Device device = device_from_name(flags.device);
  const std::vector<Way> ways =
      flags.recipe.empty() ? std::vector<Way>{own_way(model)} : ways_from(flags.recipe, model, device);
  Asked asked{model, subject, classes_of(model), {}, {}, report::terminal_style(STDOUT_FILENO, flags.plain)};
  for (const Way& way : ways) asked.answers.push_back(answers_of(way, model, subject, device));
  const auto exact = std::ranges::find_if(
      asked.answers, [](const report::Answers& a) { return answer_alike(a.recipe, recipes::fp32); });
  asked.fp32 = exact != asked.answers.end()
                   ? exact->predictions
                   : answers_of({"fp32", recipes::fp32}, model, subject, device).predictions;
  return asked;
}

void tell_table(const Asked& asked) {
  const report::Table table =
      report::answers_table(asked.answers, asked.fp32, asked.labels(), asked.classes, asked.style.unicode);
  std::cout << report::format_table(table, asked.style);
  const bool has_own = std::ranges::any_of(asked.answers, &report::Answers::is_own);
  std::cout << fitted(concat(asked.fp32.size() > 1 ? "changed: other answers than in FP32. " : "",
                             "logits off: the largest difference of a logit from FP32.",
                             has_own ? " *: trained so." : ""))
            << "\n";
}

/// The answer, the classes as bars, the image as the network sees it, and what to know of it.
void tell_picture(const Asked& asked) {
  const report::Answers& first = asked.answers.front();
  const train::Prediction& made = first.predictions.front();
  const auto wrong = std::ranges::count_if(made.logits, [](float x) { return !std::isfinite(x); });
  std::cout << report::answer_line(made, asked.classes, asked.style.unicode) << "\n\n";
  if (made.is_finite)
    std::cout << report::class_bars(made, asked.classes, asked.style) << "\n";
  else
    std::cout << fitted(
        concat(wrong, " of ", made.logits.size(), " logits are not finite under ", first.name,
               ": a number left the range of its format, so that no class is an answer.\n\n"));
  std::cout << report::image_text(asked.subject.images.image(0), asked.model.shape, asked.style);
  const auto tell = [&](const std::string& sentence) {
    std::cout << fitted(report::printable(sentence, asked.style.unicode)) << "\n";
  };
  tell(concat("What the network sees: ", asked.subject.remarks.front(), "."));
  for (const std::string& note : asked.subject.notes.front()) tell(note);
}

/// A line a picture; the first ones of many.
void tell_pictures(const Asked& asked) {
  constexpr std::size_t most = 100;
  const std::vector<train::Prediction>& made = asked.answers.front().predictions;
  const bool unicode = asked.style.unicode;
  report::Table table{
      {"picture", "answer", "share"}, {report::Align::left, report::Align::left, report::Align::right}, {}};
  if (asked.subject.has_labels) table.header.emplace_back("right");
  for (std::size_t i = 0; i < std::min(most, made.size()); ++i) {
    const train::Prediction& one = made[i];
    std::vector<std::string> row{
        report::printable(asked.subject.names[i], unicode),
        one.is_finite ? report::class_name(asked.classes, one.answer, unicode) : "none",
        one.is_finite ? report::share_text(one.shares[one.answer]) : "NaN"};
    if (asked.subject.has_labels) {
      const std::uint8_t label = asked.subject.images.labels[i];
      row.push_back(one.is_finite && one.answer == label
                        ? "yes"
                        : "no: " + report::class_name(asked.classes, label, unicode));
    }
    table.rows.push_back(std::move(row));
  }
  std::cout << report::format_table(table, asked.style);
  if (made.size() > most) std::cout << "... and " << made.size() - most << " more; --json FILE has all.\n";
  std::cout << "\n";
}

void tell_left_out(const Subject& subject) {
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(most, subject.left_out.size()); ++i)
    std::cerr << fitted_for_errors(report::printable("left out: " + subject.left_out[i], true)) << "\n";
  if (subject.left_out.size() > most)
    std::cerr << "left out: " << subject.left_out.size() - most << " more\n";
}

void tell_model(const PredictFlags& flags, const Asked& asked) {
  const train::SavedModel& model = asked.model;
  const std::string on_gpu = flags.device == "cuda" ? ", on " + kernels::executor_name() : "";
  const std::string data = model.data.substr(0, model.data.find(" ("));
  std::cout << fitted(report::printable(concat("Model: ", model.name, ", ", model.step, " steps on ", data,
                                               ", ", model.path, on_gpu),
                                        asked.style.unicode))
            << "\n";
}

/// Throws UsageError when --json would replace a picture or the checkpoint.
void expect_nothing_lost(const PredictFlags& flags) {
  namespace fs = std::filesystem;
  std::vector<std::string> read{flags.what, flags.checkpoint};
  std::error_code none;
  for (fs::directory_iterator i(flags.what, none), end; !none && i != end; i.increment(none))
    read.push_back(i->path().string());
  report::expect_no_input(flags.json, "--json", read);
}

}  // namespace

int predict_command(int argc, char** argv) {
  PredictFlags flags;
  CLI::App app(
      "What a trained model reads in pictures.\nA picture is made into an image as the model was trained on.",
      "./learn predict");
  add_flags(app, flags);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  check(flags);
  if (flags.threads > 0) set_threads(flags.threads);
  allocator(device_from_name(flags.device));  // says so when there is none

  expect_nothing_lost(flags);
  const train::SavedModel model = train::load_classifier(checkpoint_file(flags.checkpoint));
  Subject subject = read_subject(flags.what, model);
  limit(flags, model, subject);
  const Asked asked = ask(flags, model, subject);
  tell_left_out(subject);
  if (subject.is_one)
    tell_picture(asked);
  else
    std::cout << fitted(report::printable(concat("Asked about ", subject.what, "."), asked.style.unicode))
              << "\n\n";
  if (!subject.is_one && !subject.names.empty()) tell_pictures(asked);
  if (!subject.is_one || asked.answers.size() > 1) {
    if (subject.is_one) std::cout << "\n";
    tell_table(asked);
  }
  tell_model(flags, asked);
  if (!flags.json.empty()) {
    report::write_whole(flags.json,
                        report::answers_json(asked.answers, asked.fp32, asked.labels(), asked.classes,
                                             subject.names, model.name),
                        "the answers", "--json FILE");
    std::cout << "JSON:   " << flags.json << "\n";
  }
  return 0;
}

}  // namespace tinymp::lab
