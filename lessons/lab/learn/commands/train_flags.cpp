#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/commands/byte_size.h>
#include <lessons/lab/learn/commands/ranks.h>
#include <lessons/lab/learn/commands/train_flags.h>
#include <tinymp/nn/first_values.h>
#include <tinymp/optim/optimizers.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <initializer_list>
#include <limits>
#include <string_view>

// The flags of ./learn train, and the plan that they make.
namespace tinymp::lab {
namespace {

constexpr std::int64_t most_seeds = 1000;

void add_optimizer_flags(CLI::App& app, TrainFlags& flags) {
  const char* const group = "The optimizer";
  app.add_option("--optimizer", flags.optimizer, "sgd, adam, adamw or adagrad")
      ->type_name("NAME")
      ->check(CLI::IsMember({"sgd", "adam", "adamw", "adagrad"}).description(""))
      ->capture_default_str()
      ->group(group);
  app.add_option("--lr", flags.lr, "(sgd 0.1, adam and adamw 0.001, adagrad 0.01); several: 1e-3,1e-2")
      ->type_name("X")
      ->delimiter(',')
      ->allow_extra_args(false)
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

/// "none" is for a run that goes on without the segments that it began with.
nn::Segments segments_named(const std::string& text) {
  return text == "none" ? nn::Segments() : nn::Segments::from(text.empty() ? "blocks" : text);
}

/// --accumulate was the name of another flag once, and is so in other programs.
CLI::Validator no_format() {
  return CLI::Validator(
      [](std::string text) {
        std::ranges::transform(text, text.begin(),
                               [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
        const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
          return std::ranges::find(names, text) != names.end();
        };
        const bool is_f16 = is_one_of({"f16", "fp16", "float16", "half"});
        const bool is_f32 = is_one_of({"f32", "fp32", "float32", "float", "single"});
        const bool is_other = is_one_of({"bfloat16", "double", "float64", "fp64", "tf32", "fp8"}) ||
                              std::ranges::any_of(format_table, [&](const FormatRow& format) {
                                return text == std::string_view(format.name);
                              });
        if (!is_f16 && !is_f32 && !is_other) return std::string();
        return concat("takes a number of batches; the running sum inside a matmul is --accumulator ",
                      is_f16   ? "f16"
                      : is_f32 ? "f32"
                               : "f32 or f16");
      },
      "");
}

void add_run_flags(CLI::App& app, TrainFlags& flags) {
  constexpr std::int64_t many = 1'000'000'000;
  const auto count = [&](const char* flag, std::int64_t& value, std::int64_t least, const char* what) {
    app.add_option(flag, value, what)->type_name("N")->check(whole(least, many))->capture_default_str();
  };
  count("--steps", flags.steps, 1, "How many");
  add_batch_flag(app, flags.batch);
  add_accumulate_flag(app, flags.micro_batches, 1'000'000);
  add_ranks_flag(app, flags.ranks);
  add_zero_flag(app, flags.zero);
  add_pipeline_flag(app, flags.pipeline);
  add_wire_flags(app, flags.wire, flags.divide);
  add_recompute_flag(app, flags.recompute);
  app.add_option("--seed", flags.options.first_seed, "Of first weights and order of images or texts")
      ->type_name("N")
      ->check(whole(0, std::numeric_limits<std::int64_t>::max()))
      ->capture_default_str();
  app.add_option("--seeds", flags.seeds, "A sweep: seeds S, S + 1, ..., N of them, S from --seed")
      ->type_name("N")
      ->check(whole(1, most_seeds));
  count("--log-every", flags.log_every, 1, "Record every so many steps");
  app.add_option("--validate-every", flags.validate_every,
                 "Measure loss and metric on the first 1,000 validation images, or 8,192 tokens, so often "
                 "(20 times a run); 0: never")
      ->type_name("N")
      ->check(whole(0, many));
  count("--shadow-every", flags.shadow_every, 0,
        "Count flushed gradients so often (not in FP32, which flushes none); 0: never, and no histograms");
  app.add_option(
         "--memory-limit", flags.memory_limit,
         "Refuse a run whose steps take more bytes, without the scratch of kernels; see ./learn memory")
      ->type_name("SIZE")
      ->check(byte_size());
  app.add_flag("--graph", flags.options.graph,
               "With --device cuda: launch a step as one graph, with the data set on the device");
  app.add_flag("--augment", flags.augment, "Each epoch moves each image a little and mirrors half of them");
  app.add_option("--name", flags.name, "Of the curve (the recipe's)")->type_name("TEXT");
}

bool names_text(const std::string& data) { return data == "text" || data == "course"; }

/// As --data says it, before anything is read; without it the grey images of MNIST or the cut.
data::ImageShape shape_of(const TrainFlags& flags) {
  return flags.options.data.empty() ? data::ImageShape{} : data::image_shape(flags.options.data);
}

/// Chooses model and task of a plan of images, or the task of one of texts.
void choose_model(const CLI::App& app, const TrainFlags& flags, train::Plan& plan) {
  plan.task = task_of(flags.model);
  plan.text = text_plan_of(app, flags.model);
  if (!flags.options.data.empty() && names_text(flags.options.data) != flags.model.reads_text())
    throw UsageError(concat("--data ", flags.options.data, " is no data for ", flags.model.name,
                            "; transformer reads text or course, all other models take images"));
  if (plan.text && flags.augment) throw UsageError("--augment is for images, not for a text");
  if (plan.text) return;
  const data::ImageShape shape = shape_of(flags);
  plan.model = model_maker(app, flags.model, shape);
  if (shape.channels == 3 && plan.task == train::Task::classify)
    plan.pixels.normalise = data::cifar10_statistics;  // what an autoencoder draws lies between 0 and 1
  plan.pixels.crop_and_flip = flags.augment;
}

void choose_schedule(const TrainFlags& flags, train::Plan& plan) {
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

void choose_optimizer(const CLI::App& app, const TrainFlags& flags, train::Plan& plan) {
  const float usual = flags.optimizer == "sgd" ? 0.1f : flags.optimizer == "adagrad" ? 0.01f : 1e-3f;
  const float lr = flags.lr.empty() ? usual : flags.lr.front();
  const float usual_decay = flags.optimizer == "adamw" ? 0.01f : 0;
  const float decay = app.count("--weight-decay") > 0 ? flags.weight_decay : usual_decay;
  plan.optimizer = optimizer_named(flags.optimizer, lr, flags.momentum, decay);
  plan.clip = flags.clip;
  plan.optimizer_name = concat(flags.optimizer, " lr=", lr);
  if (flags.momentum > 0) plan.optimizer_name += concat(" momentum=", flags.momentum);
  if (decay > 0) plan.optimizer_name += concat(" weight_decay=", decay);
  if (flags.clip > 0) plan.optimizer_name += concat(" clip=", flags.clip);
  choose_schedule(flags, plan);
}

}  // namespace

void add_batch_flag(CLI::App& app, std::int64_t& batch) {
  app.add_option("--batch", batch, "Images, or texts, that go forward and backward at once")
      ->type_name("N")
      ->check(whole(1, 1 << 24))
      ->capture_default_str();
}

void add_accumulate_flag(CLI::App& app, std::int64_t& micro_batches, std::int64_t most) {
  app.add_option(
         "--accumulate", micro_batches,
         "Add up the gradients of K such batches, and take one step with their mean; in FP16 sums overflow "
         "sooner (--gradient f32)")
      ->type_name("K")
      ->check(no_format())
      ->check(whole(1, most))
      ->capture_default_str();
}

void add_recompute_flag(CLI::App& app, std::string& segments) {
  app.add_option(
         "--recompute", segments,
         "Keep the inputs of blocks alone, and run each again in backward: one segment a block, or so "
         "many segments, or sqrt of the blocks. No bit changes; --resume with none keeps all")
      ->type_name("[SEGMENTS]")
      ->expected(0, 1)
      ->check(CLI::Validator(
          [](const std::string& text) {
            try {
              static_cast<void>(segments_named(text));
              return std::string();
            } catch (const Error& error) {
              return std::string(error.what());
            }
          },
          ""));
}

nn::Segments segments_from(const CLI::App& app, const std::string& segments) {
  return app.count("--recompute") == 0 ? nn::Segments() : segments_named(segments);
}

train::OptimizerMaker optimizer_named(const std::string& name, float lr, float momentum, float weight_decay) {
  if (name != "sgd" && momentum > 0) throw UsageError(concat("--momentum is for sgd, not for ", name));
  if (name == "sgd")
    return train::optimizer_of<Sgd>({.lr = lr, .momentum = momentum, .weight_decay = weight_decay});
  if (name == "adam") return train::optimizer_of<Adam>({.lr = lr, .weight_decay = weight_decay});
  if (name == "adamw") return train::optimizer_of<AdamW>({.lr = lr, .weight_decay = weight_decay});
  return train::optimizer_of<Adagrad>({.lr = lr, .weight_decay = weight_decay});
}

train::Plan plan_from(const CLI::App& app, const TrainFlags& flags) {
  train::Plan plan;
  plan.recipe = recipe_from_flags(app, flags.recipe);
  plan.name = flags.name.empty() ? recipe_title(app, flags.recipe) : flags.name;
  plan.seed = flags.options.first_seed;
  choose_model(app, flags, plan);
  choose_optimizer(app, flags, plan);
  plan.steps = flags.steps;
  plan.batch = flags.batch;
  plan.micro_batches = flags.micro_batches * std::max<std::int64_t>(1, flags.ranks);
  plan.wire = wire_from(app, flags.wire, flags.divide, flags.ranks);
  plan.recompute = segments_from(app, flags.recompute);
  if (!flags.memory_limit.empty()) plan.memory_limit = bytes_from(flags.memory_limit);
  plan.log_every = flags.log_every;
  plan.validate_every =
      flags.validate_every < 0 ? std::max<std::int64_t>(1, flags.steps / 20) : flags.validate_every;
  plan.saves = true;
  plan.save_every = flags.resume.save_every;
  plan.keep = flags.resume.keep;
  plan.shadow_every = has_narrow_gradients(plan.recipe) ? flags.shadow_every : 0;
  if (flags.shadow_every > 0) plan.histogram_every = std::max<std::int64_t>(1, flags.steps / 4);
  if (flags.pipeline) choose_pipeline(app, flags, plan);
  return plan;
}

std::int64_t most_tokens(const ModelFlags& flags) {
  constexpr std::int64_t characters = 1 << 21;  // more than Unicode has
  return flags.words ? flags.vocabulary : characters;
}

void give_text(Lab& lab, const ModelFlags& flags, train::Plan& plan) {
  if (!plan.text) return;
  plan.text->text = &lab.text(most_tokens(flags), flags.unit());
  plan.model = text_model_maker(flags, std::ssize(plan.text->text->vocabulary));
}

std::string panel(const train::Plan& plan, Lab& lab) {
  const nn::MetaParameters
      shapes;  // a model that is too large is refused later, before its values take memory
  Rng rng(0);
  return concat(plan.model(plan.recipe, rng)->name(), " on ",
                plan.text ? plan.text->text->name : lab.data().train.name);
}

std::string told_segments(const nn::Segments& asked, std::int64_t blocks) {
  if (!asked.any()) return "";
  try {
    const std::int64_t segments = asked.of(blocks);
    return concat("Runs ", blocks, blocks == 1 ? " block" : " blocks", " again in backward, in ", segments,
                  segments == 1 ? " segment." : " segments.");
  } catch (const Error& error) {
    throw UsageError(concat("--recompute: ", error.what()));
  }
}

std::string told_segments(const train::Plan& plan) {
  if (!plan.recompute.any()) return "";
  const nn::MetaParameters shapes;
  Rng rng(0);
  return told_segments(plan.recompute, plan.model(plan.recipe, rng)->blocks());
}

void add_train_flags(CLI::App& app, TrainFlags& flags) {
  add_run_flags(app, flags);
  add_training_flags(app, flags.options,
                     {.names = {"mnist", "fashion", "cut", "cifar10", "text", "course"},
                      .otherwise = "mnist when it is here, else cut; transformer: text, else course",
                      .folders = true});
  add_mine_flag(app);
  add_output_flags(app, flags.options);
  add_resume_flags(app, flags.resume);
  add_model_flags(app, flags.model);
  add_optimizer_flags(app, flags);
  add_recipe_flags(app, flags.recipe);
  app.get_option("--recipe")
      ->description("A named recipe (below), or several: fp32,fp16_static; the other flags change each")
      ->type_name("NAME,...");
}

TypedCommand::TypedCommand(const std::vector<std::string>& words)
    : app(std::make_unique<CLI::App>("", "./learn train")) {
  add_train_flags(*app, flags);
  std::vector<const char*> arguments;
  for (const std::string& word : words) arguments.push_back(word.c_str());
  try {
    app->parse(static_cast<int>(arguments.size()), arguments.data());
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

TypedCommand::~TypedCommand() = default;

}  // namespace tinymp::lab
