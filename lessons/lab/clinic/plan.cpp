#include <lessons/lab/clinic/case.h>
#include <lessons/lab/clinic/masked_mlp.h>
#include <lessons/lab/clinic/micro_batches.h>
#include <lessons/lab/clinic/two_heads.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/run_log_fields.h>

// Makes a plan from a config.
namespace tinymp::clinic {
namespace {

template <class T>
T value(const Json& json, const char* key, const T& otherwise) {
  return json.contains(key) ? json.at(key).get<T>() : otherwise;
}

/// Reads the fields that run_log_fields.h lists. A missing field keeps its value.
struct FromConfig {
  const Json& json;

  void operator()(const char* key, DType& format) const {
    if (json.contains(key)) format = dtype_from_name(json.at(key).get<std::string>());
  }
  void operator()(const char* key, LossScaling& scaling) const {
    if (!json.contains(key)) return;
    const Json& inner = json.at(key);
    const std::string kind = inner.at("kind");
    const std::optional<LossScaling> named = scaling_named(kind);
    expect(named.has_value(), "a config has scaling of kind '", kind, "'");
    scaling = *named;
    train::fields(scaling, FromConfig{inner});
  }
  void operator()(const char* key, Rounding& rounding) const {
    const std::string name = value<std::string>(json, key, std::string(name_of(rounding)));
    const std::optional<Rounding> named = rounding_named(name);
    expect(named.has_value(), "a config has the rounding '", name, "'");
    rounding = *named;
  }
  template <ScalingChoice T>
  void operator()(const char* key, T& choice) const {
    const std::string name = value<std::string>(json, key, std::string(name_of(choice)));
    expect(set_by_name(choice, name), "a config has the scaling of tensors '", name, "'");
  }
  void operator()(const char* key, LayerNames& names) const {
    names = LayerNames::from(value<std::string>(json, key, std::string(names.text())));
  }
  void operator()(const char* key, ScaleFloors& floors) const {
    floors = scale_floors_from(value<std::string>(json, key, to_text(floors)));
  }
  template <class T>
  void operator()(const char* key, T& number) const {
    number = value<T>(json, key, number);
  }
};

train::ModelMaker model_maker(const Json& model) {
  const std::string kind = model.at("kind");
  const auto widths = value<std::vector<std::int64_t>>(model, "widths", {});
  using nn::Model;
  if (kind == "residual") {
    return [width = model.at("width").get<std::int64_t>(), blocks = model.at("blocks").get<int>()](
               const Recipe& recipe, Rng& rng) -> std::unique_ptr<Model> {
      return std::make_unique<nn::ResidualMlp>(width, blocks, recipe, rng);
    };
  }
  if (kind == "batch norm mlp") {
    const Accumulation sums{dtype_from_name(model.at("sums").get<std::string>())};
    return [widths, sums](const Recipe& recipe, Rng& rng) -> std::unique_ptr<Model> {
      return std::make_unique<nn::BatchNormMlp>(widths, recipe, rng, sums);
    };
  }
  if (kind == "masked mlp") {
    const auto hides = model.at("hidden classes get").get<float>();
    return [widths, hides](const Recipe& recipe, Rng& rng) -> std::unique_ptr<Model> {
      return std::make_unique<MaskedMlp>(widths, hides, recipe, rng);
    };
  }
  if (kind == "two heads") {
    return [widths](const Recipe& recipe, Rng& rng) -> std::unique_ptr<Model> {
      return std::make_unique<TwoHeads>(widths, recipe, rng);
    };
  }
  expect(kind == "mlp" || kind == "autoencoder", "a config has a model of kind '", kind, "'");
  return [widths, draws = kind == "autoencoder"](const Recipe& recipe, Rng& rng) -> std::unique_ptr<Model> {
    if (draws) return std::make_unique<nn::Autoencoder>(widths, recipe, rng);
    return std::make_unique<nn::Mlp>(widths, recipe, rng);
  };
}

void choose_optimizer(const Json& config, train::Plan& plan) {
  const std::string name = config.at("name");
  const auto lr = config.at("lr").get<float>();
  const float momentum = value(config, "momentum", 0.0f), epsilon = value(config, "epsilon", 1e-8f);
  expect(name == "sgd" || name == "adam", "a config has the optimizer '", name, "'");
  plan.optimizer = [=](std::vector<Tensor> parameters, const Recipe& recipe) -> std::unique_ptr<Optimizer> {
    if (name == "adam")
      return std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = lr, .epsilon = epsilon},
                                    recipe);
    return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = lr, .momentum = momentum}, recipe);
  };
  plan.optimizer_name = concat(name, " lr=", lr);
  if (momentum > 0) plan.optimizer_name += concat(" momentum=", momentum);
  if (config.contains("epsilon")) plan.optimizer_name += concat(" epsilon=", epsilon);
}

const char* const clip_line = "clip to norm 1";

/// What an owner's rule for delayed scales says of tensors that did not run. Without a rule it is the library's.
bool rolls_all_histories(const Json& config) {
  const std::string scale_line = "scale = largest / max(1e-12, largest amax of the history)";
  const auto rule = value<std::vector<std::string>>(config, "scales", {});
  if (rule.empty()) return false;
  expect(rule.size() == 2 && rule[1] == scale_line, "a config has scales by another rule than ", scale_line);
  const bool all = rule[0] == "roll the history of each tensor; its amax is 0 if it did not run";
  expect(all || rule[0] == "roll the history of each tensor that ran", "a config's scales have the line '",
         rule[0], "'");
  return all;
}

}  // namespace

Program program_of(const Json& config) {
  Program program;
  program.step = config.at("step").get<std::vector<std::string>>();
  program.separate_softmax = value<std::string>(config, "loss", "") == "-mean(log(softmax(logits))[label])";
  std::vector<std::string> usual{"backward of S x loss",
                                 "divide gradients by S",
                                 clip_line,
                                 "step if all gradients are finite",
                                 "update S",
                                 "zero_grad"};
  if (config.at("recipe").contains("scaling") && config.at("recipe").at("scaling").at("kind") == "none")
    usual = {"backward of loss", clip_line, "step", "zero_grad"};  // without S nothing is divided or checked
  if (std::ranges::find(program.step, clip_line) == program.step.end()) std::erase(usual, clip_line);
  program.averages_move_in_forward = value<std::string>(config, "running averages", "") == "move in forward";
  if (config.contains("damaged image")) {
    program.damaged_step = config.at("damaged image").at("step");
    program.damaged_pixel = config.at("damaged image").at("pixel");
  }
  program.second_head_every = value<std::int64_t>(config.at("model"), "second head every", 0);
  program.rolls_all_histories = rolls_all_histories(config);
  program.micro_batches = value(config, "micro-batches", program.micro_batches);
  program.mean_of_means = std::ranges::find(program.step, means_line) != program.step.end();
  program.is_the_library_s = program.step == usual && !program.separate_softmax &&
                             !program.averages_move_in_forward && program.damaged_step == 0 &&
                             program.second_head_every == 0 && !program.rolls_all_histories &&
                             program.micro_batches.empty();
  return program;
}

train::Plan plan_of(const Json& config, const data::Split& data) {
  train::Plan plan;
  plan.lesson = "clinic";
  plan.data = &data;
  plan.task =
      config.at("model").at("kind") == "autoencoder" ? train::Task::reconstruct : train::Task::classify;
  plan.model = model_maker(config.at("model"));
  choose_optimizer(config.at("optimizer"), plan);
  FromConfig read{config.at("recipe")};
  train::fields(plan.recipe, read);
  plan.pixels.invert = value(config, "invert pixels", false);
  plan.seed = config.at("seed");
  plan.steps = config.at("steps");
  plan.batch = config.at("batch");
  plan.log_every = config.at("log_every");
  plan.shadow_every = value(config, "shadow_every", plan.shadow_every);
  plan.histogram_every = value(config, "histogram_every", plan.histogram_every);
  const Program program = program_of(config);
  if (std::ranges::find(program.step, clip_line) != program.step.end()) plan.clip = 1;
  return plan;
}

}  // namespace tinymp::clinic
