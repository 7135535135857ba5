#include <kernels/bench/report_text.h>
#include <kernels/bench/telemetry.h>
#include <stdlib.h>
#include <tinymp/base/error.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/sgd.h>
#include <tinymp/train/loop.h>
#include <algorithm>
#include <array>
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

std::string cost(const std::vector<double>& ratios) {
  char text[32];
  std::snprintf(text, sizeof text, "%+.2f %%", 100 * (median(ratios) - 1));
  return text;
}

}  // namespace

Telemetry bench_telemetry(int pairs, std::int64_t steps) {
  const data::Split data = data::load_images("cut");
  const Folder folder;
  Telemetry telemetry{.steps = steps};
  std::array<train::Plan, 3> plans;
  plans.fill(plan_of(data, steps));
  plans[1].log_every = plans[2].log_every = plans[2].shadow_every = telemetry.every;
  std::vector<double> plain;
  for (int pair = -1; pair < pairs; ++pair) {  // the first does not count
    std::array<double, 3> seconds{};
    for (std::size_t turn = 0; turn < plans.size(); ++turn) {
      const std::size_t i = pair % 2 == 0 ? turn : plans.size() - 1 - turn;
      wait_for_threads();
      const std::string log = concat(folder / "log", pair, "-", i, ".jsonl");
      seconds[i] = train::run(plans[i], log).result->seconds;
    }
    if (pair < 0) continue;
    plain.push_back(seconds[0]);
    telemetry.logged.push_back(seconds[1] / seconds[0]);
    telemetry.shadowed.push_back(seconds[2] / seconds[0]);
  }
  telemetry.plain_seconds = median(plain);
  return telemetry;
}

nlohmann::ordered_json Telemetry::json() const {
  return {{"bench", "telemetry"},
          {"steps", steps},
          {"every", every},
          {"pairs", logged.size()},
          {"plain_seconds", plain_seconds},
          {"logged_cost_percent", 100 * (median(logged) - 1)},
          {"logged_ratios", logged},
          {"shadowed_cost_percent", 100 * (median(shadowed) - 1)},
          {"shadowed_ratios", shadowed}};
}

report::Table Telemetry::table() const {
  return {{"telemetry", "costs"},
          {report::Align::left, report::Align::right},
          {{concat("a line in the log, and its meters, every ", every, " steps"), cost(logged)},
           {"... and flushed gradients counted beside an FP32 shadow", cost(shadowed)}}};
}

std::string Telemetry::notes() const {
  return concat("Medians of ", logged.size(), " pairs of runs, ", steps, " steps of the MLP each (",
                digits(1e3 * plain_seconds), " ms without).\n");
}

}  // namespace tinymp::kernels::bench
