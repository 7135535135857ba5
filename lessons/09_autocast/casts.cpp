#include <fmt/format.h>
#include <lessons/09_autocast/questions.h>
#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/terminal.h>
#include <tinymp/amp/explain.h>
#include <tinymp/amp/mixed_optimizer.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/ops/ops.h>
#include <tinymp/optim/optimizers.h>

namespace tinymp::lab {
namespace {

constexpr std::int64_t images_in_batch = 128;

Tensor grey_images() {
  return Tensor::from({images_in_batch, 784}, std::vector<float>(images_in_batch * 784, 0.5f));
}
const std::vector<std::int32_t> labels(images_in_batch, 0);

void say_lines(Lab& lab, std::string text) {
  while (text.ends_with('\n')) text.pop_back();
  lab.say(text);
}

/// One step of `model` under `recipe`, op by op.
template <class Model>
std::vector<ExplainedOp> ops_of(const Recipe& recipe, const Model& model, const train::Loss& loss) {
  return explain(
      [&] {
        const Autocast region(recipe);
        return loss(model(grey_images()), labels);
      },
      names_in(model));
}

struct Cost {
  std::int64_t casts = 0, of_parameters = 0, bytes = 0;
};
Cost cost_of(const std::vector<ExplainedOp>& ops) {
  Cost cost;
  for (const ExplainedOp& op : ops) {
    const bool is_cast = op.op == "cast";
    cost.casts += is_cast;
    cost.of_parameters += is_cast && !op.names.empty();
    cost.bytes += op.bytes;
  }
  return cost;
}

}  // namespace

void show_lists(Lab& lab) {
  const std::pair<RunsIn, const char*> lists[] = {{RunsIn::narrow, "FP16"},
                                                  {RunsIn::wide, "FP32"},
                                                  {RunsIn::widest, "the widest input"},
                                                  {RunsIn::given, "as it comes"}};
  lab.say("\nThe lists of autocast");
  for (const auto& list : lists) {
    std::string ops;
    for (const AutocastRule& rule : autocast_rules())
      if (rule.runs_in == list.first) ops += (ops.empty() ? "" : " ") + rule.op;
    const char* heading = list.second;
    for (const std::string& line : report::wrap(ops, 70)) {
      lab.say(fmt::format("  {:<18}{}", heading, line));
      heading = "";
    }
  }
}

namespace {

/// Steps in which the model answers three times, so that each parameter has three uses.
void show_one_cast(Lab& lab) {
  Rng rng(9);
  const nn::Mlp model({784, 64, 10}, {}, rng);
  Sgd sgd(tensors(model.parameters()), {.lr = 0.1f});
  MixedOptimizer optimizer(sgd, NoScaling{});
  std::int64_t casts = 0;
  constexpr int steps = 5, uses = 3;
  const auto loss_of = [&] {
    const Autocast region(DType::f16);  // inside that of the optimizer, whose copies it shares
    const auto loss = [&] { return cross_entropy(model(grey_images()), labels); };
    const Tensor sum = add(add(loss(), loss()), loss());
    casts += region.casts_of_parameters();
    return sum;
  };
  for (int step = 0; step < steps; ++step) optimizer.minimize(loss_of);
  const auto parameters = std::ssize(model.parameters());
  lab.say(fmt::format("\n{} parameters, each used {} times a step, {} steps: {} uses, {} casts", parameters,
                      uses, steps, parameters * uses * steps, casts));
  lab.claim(casts == parameters * steps,
            fmt::format("each parameter is cast once a step: {} casts in {} steps", casts, steps),
            Lab::Judged::in_smoke_too);
}

/// Bytes a parameter under Adam, with its two moments; the master counts unless it is the weights themselves.
std::size_t bytes_a_parameter(const Recipe& r) {
  return size_of(r.compute) + size_of(r.gradient) + (r.master == r.compute ? 0 : size_of(r.master)) +
         2 * size_of(r.state);
}

void show_levels(Lab& lab) {
  const std::pair<const char*, Recipe> levels[] = {
      {"O0", recipes::o0}, {"O1", recipes::o1}, {"O2", recipes::o2}, {"O3", recipes::o3}};
  lab.say(
      "\nA step of LeNet, 128 images     casts   of parameters   kB of results   bytes a parameter, Adam");
  for (const auto& level : levels) {
    Rng rng(0);
    const nn::LeNet model(level.second, rng);
    const Cost cost = cost_of(ops_of(level.second, model, cross_entropy));
    lab.say(fmt::format("  {:<28} {:>6} {:>15} {:>15} {:>25}", level.first, cost.casts, cost.of_parameters,
                        cost.bytes / 1000, bytes_a_parameter(level.second)));
  }
}

}  // namespace

void show_casts(Lab& lab) {
  Rng rng(0);
  lab.say("\nA residual MLP under O1");
  say_lines(lab, ops_table(ops_of(recipes::o1, nn::ResidualMlp(64, 1, recipes::o1, rng), cross_entropy)));
  lab.say("\nA loss of single ops under O1");
  say_lines(lab, ops_table(ops_of(recipes::o1, nn::Mlp({784, 10}, recipes::o1, rng), plain_loss)));
  show_one_cast(lab);
  show_levels(lab);
}

}  // namespace tinymp::lab
