#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/commands/model_flags.h>
#include <lessons/lab/learn/commands/recipe_flags.h>
#include <tinymp/data/picture_folder.h>
#include <tinymp/optim/optimizers.h>
#include <CLI/CLI.hpp>

// ./learn train: one run, with a flag for everything that a plan holds.
namespace tinymp::lab {
namespace {

constexpr Lesson lesson{"train", "A training run of your own",
                        "One model, one recipe; every field has a flag."};

struct Flags {
  Options options;
  RecipeFlags recipe;
  ModelFlags model;
  std::string name;
  std::string optimizer = "sgd";
  float lr = 0, momentum = 0, weight_decay = 0, clip = 0;
  std::string schedule = "constant";
  bool augment = false;
  std::int64_t warmup = 0, steps = 1000, batch = 64, log_every = 10, shadow_every = 50;
};

void add_optimizer_flags(CLI::App& app, Flags& flags) {
  const char* const group = "The optimizer";
  app.add_option("--optimizer", flags.optimizer, "sgd, adam, adamw or adagrad")
      ->type_name("NAME")
      ->check(CLI::IsMember({"sgd", "adam", "adamw", "adagrad"}).description(""))
      ->capture_default_str()
      ->group(group);
  app.add_option("--lr", flags.lr, "(sgd 0.1, adam and adamw 0.001, adagrad 0.01)")
      ->type_name("X")
      ->check(not_negative())
      ->group(group);
  app.add_option("--schedule", flags.schedule,
                 "constant, step (a tenth from half of the steps, a hundredth from 3/4) or cosine (to 0)")
      ->type_name("NAME")
      ->check(CLI::IsMember({"constant", "step", "cosine"}).description(""))
      ->capture_default_str()
      ->group(group);
  app.add_option("--warmup", flags.warmup, "The first N steps climb to the learning rate")
      ->type_name("N")
      ->check(whole(0, 1'000'000'000))
      ->capture_default_str()
      ->group(group);
  app.add_option("--momentum", flags.momentum, "Of sgd (0)")
      ->type_name("X")
      ->check(not_negative())
      ->group(group);
  app.add_option("--weight-decay", flags.weight_decay, "(0; adamw 0.01)")
      ->type_name("X")
      ->check(not_negative())
      ->group(group);
  app.add_option("--clip", flags.clip, "Largest norm of the gradients (no clipping)")
      ->type_name("X")
      ->check(positive())
      ->group(group);
}

void add_run_flags(CLI::App& app, Flags& flags) {
  constexpr std::int64_t many = 1'000'000'000;
  const auto count = [&](const char* flag, std::int64_t& value, std::int64_t least, const char* what) {
    app.add_option(flag, value, what)->type_name("N")->check(whole(least, many))->capture_default_str();
  };
  count("--steps", flags.steps, 1, "How many");
  count("--batch", flags.batch, 1, "Images a step");
  app.add_option("--seed", flags.options.first_seed, "Of first weights and order of images")
      ->type_name("N")
      ->check(whole(0, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  count("--log-every", flags.log_every, 1, "Record every so many steps");
  count("--shadow-every", flags.shadow_every, 0,
        "Count flushed gradients so often (not in FP32, which flushes none); 0: never, and no histograms");
  app.add_flag("--augment", flags.augment, "Each epoch moves each image a little and mirrors half of them");
  app.add_option("--name", flags.name, "Of the curve (the recipe's)")->type_name("TEXT");
}

/// As --data says it, before anything is read; without it the grey images of MNIST or the cut.
data::ImageShape shape_of(const Flags& flags) {
  return flags.options.data.empty() ? data::ImageShape{} : data::image_shape(flags.options.data);
}

template <class Kind>
train::OptimizerMaker maker(const typename Kind::Options& options) {
  return [options](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Kind>(std::move(parameters), options, recipe);
  };
}

void choose_schedule(const Flags& flags, train::Plan& plan) {
  if (flags.warmup >= flags.steps)
    throw UsageError(concat("--warmup ", flags.warmup, " takes all of the ", flags.steps,
                            " steps; choose fewer, or more --steps"));
  plan.schedule = flags.schedule == "cosine" ? ScheduleKind::cosine
                  : flags.schedule == "step" ? ScheduleKind::step
                                             : ScheduleKind::constant;
  plan.warmup = flags.warmup;
  if (plan.schedule != ScheduleKind::constant) plan.optimizer_name += " " + flags.schedule;
  if (plan.warmup > 0) plan.optimizer_name += concat(" warmup=", plan.warmup);
}

void choose_optimizer(const CLI::App& app, const Flags& flags, train::Plan& plan) {
  const bool is_sgd = flags.optimizer == "sgd";
  if (!is_sgd && app.count("--momentum") > 0)
    throw UsageError(concat("--momentum is for sgd, not for ", flags.optimizer));
  const float usual = is_sgd ? 0.1f : flags.optimizer == "adagrad" ? 0.01f : 1e-3f;
  const float lr = app.count("--lr") > 0 ? flags.lr : usual;
  const float usual_decay = flags.optimizer == "adamw" ? 0.01f : 0;
  const float decay = app.count("--weight-decay") > 0 ? flags.weight_decay : usual_decay;
  plan.optimizer = is_sgd ? maker<Sgd>({.lr = lr, .momentum = flags.momentum, .weight_decay = decay})
                   : flags.optimizer == "adam"  ? maker<Adam>({.lr = lr, .weight_decay = decay})
                   : flags.optimizer == "adamw" ? maker<AdamW>({.lr = lr, .weight_decay = decay})
                                                : maker<Adagrad>({.lr = lr, .weight_decay = decay});
  plan.clip = flags.clip;
  plan.optimizer_name = concat(flags.optimizer, " lr=", lr);
  if (flags.momentum > 0) plan.optimizer_name += concat(" momentum=", flags.momentum);
  if (decay > 0) plan.optimizer_name += concat(" weight_decay=", decay);
  if (flags.clip > 0) plan.optimizer_name += concat(" clip=", flags.clip);
  choose_schedule(flags, plan);
}

train::Plan plan_from(const CLI::App& app, const Flags& flags) {
  train::Plan plan;
  plan.recipe = recipe_from_flags(app, flags.recipe);
  plan.name = flags.name.empty() ? recipe_title(app, flags.recipe) : flags.name;
  plan.seed = flags.options.first_seed;
  const data::ImageShape shape = shape_of(flags);
  plan.model = model_maker(app, flags.model, shape);
  plan.task = task_of(flags.model);
  if (shape.channels == 3 && plan.task == train::Task::classify)
    plan.pixels.normalise = data::cifar10_statistics;  // what an autoencoder draws lies between 0 and 1
  plan.pixels.crop_and_flip = flags.augment;
  choose_optimizer(app, flags, plan);
  plan.steps = flags.steps;
  plan.batch = flags.batch;
  plan.log_every = flags.log_every;
  plan.shadow_every = has_narrow_gradients(plan.recipe) ? flags.shadow_every : 0;
  if (flags.shadow_every > 0) plan.histogram_every = std::max<std::int64_t>(1, flags.steps / 4);
  return plan;
}

/// Runs of one model on the same data are one panel of a later comparison.
std::string panel(const train::Plan& plan, const data::Split& data) {
  Rng rng(0);
  return concat(plan.model(plan.recipe, rng)->name(), " on ", data.train.name);
}

}  // namespace

int train_command(int argc, char** argv) {
  Flags flags;
  CLI::App app(concat(lesson.title, ".\n", lesson.question), "./learn train");
  add_run_flags(app, flags);
  add_training_flags(app, flags.options,
                     {.names = {"mnist", "fashion", "cut", "cifar10"},
                      .otherwise = "mnist when it is here, else cut",
                      .folders = true});
  add_mine_flag(app);
  add_output_flags(app, flags.options);
  add_model_flags(app, flags.model);
  add_optimizer_flags(app, flags);
  add_recipe_flags(app, flags.recipe);
  app.footer("Recipes:\n" + recipe_list() +
             "\n"
             "Examples:\n"
             "  ./learn train --recipe fp16_weights --optimizer adam --lr 1e-5\n"
             "  ./learn train --model autoencoder --recipe fp16_static --loss-scale 8\n"
             "  ./learn compare runs/train-001 runs/train-002");
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  flags.options.command = typed(command_of(lesson), argc, argv);

  train::Plan plan = plan_from(app, flags);
  Lab lab(lesson, flags.options);
  plan.question = panel(plan, lab.data());
  if (data::names_folder(flags.options.data)) lab.say("Data: " + data::describe(lab.data()));
  lab.say(concat(plan.question, ", ", plan.optimizer_name, ", ", describe(plan.recipe)));
  lab.train(std::move(plan));
  return lab.finish();
}

}  // namespace tinymp::lab
