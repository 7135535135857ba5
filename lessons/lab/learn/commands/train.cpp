#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/commands.h>
#include <lessons/lab/learn/commands/model_flags.h>
#include <lessons/lab/learn/commands/recipe_flags.h>
#include <lessons/lab/learn/commands/resume_flags.h>
#include <lessons/lab/learn/interrupt.h>
#include <lessons/lab/learn/words.h>
#include <tinymp/data/picture_folder.h>
#include <tinymp/optim/optimizers.h>
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>

// ./learn train: one run, with a flag for everything that a plan holds.
namespace tinymp::lab {
namespace {

constexpr Lesson lesson{"train", "A training run of your own",
                        "One model, one recipe; every field has a flag."};

struct Flags {
  Options options;
  RecipeFlags recipe;
  ModelFlags model;
  ResumeFlags resume;
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
  app.add_option("--momentum", flags.momentum, "Of sgd (0)")->type_name("X")->check(fraction())->group(group);
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
  plan.optimizer =
      is_sgd ? train::optimizer_of<Sgd>({.lr = lr, .momentum = flags.momentum, .weight_decay = decay})
      : flags.optimizer == "adam"  ? train::optimizer_of<Adam>({.lr = lr, .weight_decay = decay})
      : flags.optimizer == "adamw" ? train::optimizer_of<AdamW>({.lr = lr, .weight_decay = decay})
                                   : train::optimizer_of<Adagrad>({.lr = lr, .weight_decay = decay});
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
  plan.saves = true;
  plan.save_every = flags.resume.save_every;
  plan.keep = flags.resume.keep;
  plan.shadow_every = has_narrow_gradients(plan.recipe) ? flags.shadow_every : 0;
  if (flags.shadow_every > 0) plan.histogram_every = std::max<std::int64_t>(1, flags.steps / 4);
  return plan;
}

/// Runs of one model on the same data are one panel of a later comparison.
std::string panel(const train::Plan& plan, const data::Split& data) {
  Rng rng(0);
  return concat(plan.model(plan.recipe, rng)->name(), " on ", data.train.name);
}

void add_flags(CLI::App& app, Flags& flags) {
  add_run_flags(app, flags);
  add_training_flags(app, flags.options,
                     {.names = {"mnist", "fashion", "cut", "cifar10"},
                      .otherwise = "mnist when it is here, else cut",
                      .folders = true});
  add_mine_flag(app);
  add_output_flags(app, flags.options);
  add_resume_flags(app, flags.resume);
  add_model_flags(app, flags.model);
  add_optimizer_flags(app, flags);
  add_recipe_flags(app, flags.recipe);
}

/// What ./learn train was asked to do: a plan, and where its results go.
struct Request {
  train::Plan plan;
  Options options;
  std::string log{};  ///< of the run to go on with; empty: a new run
};

/// The request of the run that --resume names, from the command in its log. `app` and `flags` may change what
/// moves none of its bits.
Request recorded_request(const CLI::App& app, const Flags& flags) {
  const std::string log = log_to_resume(flags.resume.resume);
  const std::string command = train::load_run(log).header.command;
  const std::vector<std::string> words = arguments_of(command);
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  Flags recorded;
  CLI::App again("", "./learn train");
  add_flags(again, recorded);
  try {
    again.parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    throw Error(concat(
        log, ": this version does not understand the command that the run was made by: ", error.what()));
  }
  Request request{plan_from(again, recorded), recorded.options, log};
  request.options.command = command;
  request.options.plain = flags.options.plain;
  request.options.open = flags.options.open;
  if (app.count("--threads") > 0) request.options.threads = flags.options.threads;
  if (app.count("--device") > 0) request.options.device = flags.options.device;
  if (app.count("--save-every") > 0) request.plan.save_every = flags.resume.save_every;
  if (app.count("--keep") > 0) request.plan.keep = flags.resume.keep;
  request.plan.resume = flags.resume.resume;
  return request;
}

/// After Ctrl-C: what is kept, and the command that goes on.
int tell_stopped(const train::Run& run, std::int64_t steps) {
  const std::string folder = std::filesystem::path(run.path).parent_path().string();
  const std::array<const char*, 3> words{"", "--resume", folder.c_str()};
  std::cerr << "\n"
            << fitted_for_errors(concat("Interrupted; log and checkpoint are kept (",
                                        run.steps.empty() ? 0 : run.steps.back().step, " of ", steps,
                                        " steps are logged). This goes on:"))
            << "\n  " << typed("./learn train", static_cast<int>(words.size()), words.data()) << "\n";
  return 130;  // as a shell counts what Ctrl-C ended
}

}  // namespace

int train_command(int argc, char** argv) {
  Flags flags;
  CLI::App app(concat(lesson.title, ".\n", lesson.question), "./learn train");
  add_flags(app, flags);
  app.footer("Recipes:\n" + recipe_list() +
             "\n"
             "Examples:\n"
             "  ./learn train --recipe fp16_weights --optimizer adam --lr 1e-5\n"
             "  ./learn train --model autoencoder --recipe fp16_static --loss-scale 8\n"
             "  ./learn train --save-every 100, Ctrl-C, ./learn train --resume runs/train-001\n"
             "  ./learn compare runs/train-001 runs/train-002");
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  check_resume_flags(app, flags.resume);
  flags.options.command = typed(command_of(lesson), argc, argv);

  Request request =
      flags.resume.goes_on() ? recorded_request(app, flags) : Request{plan_from(app, flags), flags.options};
  train::Plan& plan = request.plan;
  Lab lab(lesson, request.options);
  plan.question = panel(plan, lab.data());
  if (data::names_folder(flags.options.data)) lab.say("Data: " + data::describe(lab.data()));
  lab.say(concat(plan.question, ", ", plan.optimizer_name, ", ", describe(plan.recipe)));
  StartingWeights start;
  if (flags.resume.weights_only) {
    start = starting_weights(plan, flags.resume.resume);
    for (const std::string& line : start.told) lab.say(line);
    plan.start = start.model.get();
  }
  const InterruptNote interrupt;
  plan.stop = InterruptNote::seen;
  const std::int64_t steps = plan.steps;
  const train::Run run =
      request.log.empty() ? lab.train(std::move(plan)) : lab.go_on(std::move(plan), request.log);
  if (!run.result) return tell_stopped(run, steps);
  const int code = lab.finish();
  if (flags.resume.hash) std::cout << "weights " << run.result->weights << "\n";
  return code;
}

}  // namespace tinymp::lab
