#include <lessons/lab/bench/report_text.h>
#include <lessons/lab/bench/telemetry.h>
#include <stdlib.h>
#include <tinymp/base/error.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/first_bad.h>
#include <tinymp/train/loop.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>

namespace tinymp::kernels::bench {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() { expect(mkdtemp(path_.data()) != nullptr, "cannot make a folder like ", path_, " for the logs"); }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_ = (fs::temp_directory_path() / "tinymp_bench_XXXXXX").string();
};

train::Plan plan_of(const data::Split& data, std::int64_t steps) {
  train::Plan plan;
  plan.lesson = plan.question = plan.name = "telemetry";
  plan.recipe = recipes::fp16_dynamic;
  plan.data = &data;
  plan.model = [](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 128, 10}, recipe, rng);
  };
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = 0.1f, .momentum = 0.9f}, recipe);
  };
  plan.optimizer_name = "sgd";
  plan.steps = plan.log_every = steps;
  return plan;
}

/// Seconds of the calls of train::run to FaultFinder alone, without the training and without the watch over
/// step 1.
double seconds_of_copies(const train::Plan& plan) {
  Rng rng(plan.seed);
  const std::unique_ptr<nn::Model> model = plan.model(plan.recipe, rng);
  const std::unique_ptr<Optimizer> optimizer = plan.optimizer(tensors(model->parameters()), plan.recipe);
  const LossScaler scaler(plan.recipe.scaling);
  const Float8Products products(*model, plan.recipe);
  const data::Loader loader(plan.data->train, plan.batch, plan.seed);
  train::FaultFinder finder(
      plan, {*model, *optimizer, scaler, products, loader},
      [&] {
        Rng again(plan.seed);
        return plan.model(plan.recipe, again);
      },
      [](const train::Finding&) {});
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t t = 1; t <= plan.steps; ++t) {
    train::LogRecord record;
    record.step = t;
    record.loss = 1;
    record.scale = scaler.factor();
    finder.check_step(record, 0);
    finder.keep(t);
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string cost(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.2f %%", 100 * share);
  return text;
}
std::string cost(const std::vector<double>& ratios) { return cost(median(ratios) - 1); }

}  // namespace

Telemetry bench_telemetry(int pairs, std::int64_t steps) {
  const data::Split data = data::load_images("cut");
  const Folder folder;
  Telemetry telemetry{.steps = steps};
  std::array<train::Plan, 5> plans;
  plans.fill(plan_of(data, steps));
  for (std::size_t i = 1; i < plans.size(); ++i) plans[i].log_every = telemetry.every;
  plans[2].shadow_every = plans[4].shadow_every = telemetry.every;
  plans[3].histogram_every = plans[4].histogram_every = telemetry.histograms_every;
  std::vector<double>* const ratios[] = {nullptr, &telemetry.logged, &telemetry.shadowed,
                                         &telemetry.histograms, &telemetry.all};
  std::vector<double> plain;
  for (int pair = -1; pair < pairs; ++pair) {  // the first round does not count
    std::array<double, plans.size()> seconds{};
    for (std::size_t turn = 0; turn < plans.size(); ++turn) {
      const std::size_t i = pair % 2 == 0 ? turn : plans.size() - 1 - turn;
      wait_for_threads();
      const std::string log = concat(folder / "log", pair, "-", i, ".jsonl");
      seconds[i] = train::run(plans[i], log).result->seconds;
    }
    const double copies = seconds_of_copies(plans[0]);
    if (pair < 0) continue;
    plain.push_back(seconds[0]);
    for (std::size_t i = 1; i < plans.size(); ++i) ratios[i]->push_back(seconds[i] / seconds[0]);
    telemetry.copies.push_back(copies / seconds[0]);
  }
  telemetry.plain_seconds = median(plain);
  return telemetry;
}

double Telemetry::cost_of_all() const { return median(all) / (1 - median(copies)) - 1; }

nlohmann::ordered_json Telemetry::json() const {
  return {{"bench", "telemetry"},
          {"steps", steps},
          {"every", every},
          {"histograms_every", histograms_every},
          {"pairs", logged.size()},
          {"plain_seconds", plain_seconds},
          {"logged_cost_percent", 100 * (median(logged) - 1)},
          {"logged_ratios", logged},
          {"shadowed_cost_percent", 100 * (median(shadowed) - 1)},
          {"shadowed_ratios", shadowed},
          {"histograms_cost_percent", 100 * (median(histograms) - 1)},
          {"histograms_ratios", histograms},
          {"copies_cost_percent", 100 * median(copies)},
          {"copies_shares", copies},
          {"all_cost_percent", 100 * cost_of_all()},
          {"all_ratios", all}};
}

report::Table Telemetry::table() const {
  return {{"telemetry", "costs"},
          {report::Align::left, report::Align::right},
          {{concat("a line in the log, and its meters, every ", every, " steps"), cost(logged)},
           {"... and flushed gradients counted beside an FP32 shadow", cost(shadowed)},
           {concat("... or histograms of gradients and updates every ", histograms_every, " steps"),
            cost(histograms)},
           {"in every run: copies to find a first bad tensor from", cost(median(copies))},
           {"all of it, beside only the watch over step 1", cost(cost_of_all())}}};
}

std::string Telemetry::notes() const {
  return concat("Medians of ", logged.size(), " rounds of runs, ", steps, " steps of the MLP each (",
                digits(1e3 * plain_seconds), " ms without).\n");
}

}  // namespace tinymp::kernels::bench
