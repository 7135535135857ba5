#pragma once

#include <lessons/lab/learn/commands/model_flags.h>
#include <lessons/lab/learn/commands/recipe_flags.h>
#include <lessons/lab/learn/commands/resume_flags.h>
#include <lessons/lab/learn/lab.h>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

/// The command line of ./learn train: a flag for everything that a plan holds.
namespace tinymp::lab {

inline constexpr Lesson train_lesson{"train", "A training run of your own, or a sweep of them",
                                     "One model, one recipe; every field has a flag."};

struct TrainFlags {
  Options options;
  RecipeFlags recipe;  ///< recipe.recipe may be a list: "fp32,fp16_static"
  ModelFlags model;
  ResumeFlags resume;
  std::string name;
  std::string optimizer = "sgd";
  std::vector<float> lr;  ///< empty: the optimizer's usual one; several: a sweep
  float momentum = 0, weight_decay = 0, clip = 0;
  std::string schedule = "constant";
  bool augment = false;
  std::int64_t seeds = 0;              ///< 0: one run, no sweep
  std::int64_t ranks = 0;              ///< processes; 0: this one alone
  std::int64_t zero = 0;               ///< the stage of ZeRO
  bool pipeline = false;               ///< they share the blocks of the model, not the micro-batches
  std::string wire, divide = "split";  ///< of several ranks; "": gradients travel as they are
  std::int64_t warmup = 0, steps = 1000, batch = 64, micro_batches = 1, log_every = 10, shadow_every = 50;
  std::string memory_limit{};        ///< "12GB"; empty: none
  std::int64_t validate_every = -1;  ///< -1: 20 times a run
  std::string recompute;             ///< "": one segment a block, where the flag is given
};

void add_train_flags(CLI::App& app, TrainFlags& flags);

/// sgd, adam, adamw or adagrad. Throws UsageError for a momentum of another than sgd.
train::OptimizerMaker optimizer_named(const std::string& name, float lr, float momentum, float weight_decay);

/// The plan of one run: of one recipe, and of the first learning rate. Throws UsageError for flags that contradict each
/// other.
train::Plan plan_from(const CLI::App& app, const TrainFlags& flags);

/// --batch N.
void add_batch_flag(CLI::App& app, std::int64_t& batch);
/// --accumulate K, from 1 to `most`.
void add_accumulate_flag(CLI::App& app, std::int64_t& micro_batches, std::int64_t most);

/// --recompute and its word.
void add_recompute_flag(CLI::App& app, std::string& segments);
/// What --recompute asks for; none without it.
nn::Segments segments_from(const CLI::App& app, const std::string& segments);

/// The flags in the words of a command, {"train", "--lr", "0.1"}: of one in a log, or of a cell of a sweep. Throws
/// UsageError for words that mean nothing to this version.
struct TypedCommand {
  explicit TypedCommand(const std::vector<std::string>& words);
  ~TypedCommand();
  TypedCommand(const TypedCommand&) = delete;  // the app points to the flags
  TypedCommand& operator=(const TypedCommand&) = delete;

  TrainFlags flags;
  std::unique_ptr<CLI::App> app;
};

/// The most tokens that a vocabulary of the model's texts may have.
std::int64_t most_tokens(const ModelFlags& flags);
/// Gives a plan of texts its text, which the lab reads, and a model of its vocabulary. Leaves a plan of images as it is.
void give_text(Lab& lab, const ModelFlags& flags, train::Plan& plan);

/// Runs of one model on the same data are one panel of a later comparison.
std::string panel(const train::Plan& plan, Lab& lab);

/// "Runs 24 blocks again in backward, in 5 segments."; empty where the plan recomputes nothing. Throws UsageError where
/// the model has no such segments.
std::string told_segments(const train::Plan& plan);
std::string told_segments(const nn::Segments& asked, std::int64_t blocks);

}  // namespace tinymp::lab
