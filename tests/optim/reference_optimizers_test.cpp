#include <tests/catch.h>
#include <tests/optim/reference_optimizers.h>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

/// The float64 reference against torch.optim; record_torch_optimizers.py makes the same weights and
/// gradients.
namespace tinymp::test {
namespace {

using nlohmann::json;

json recorded_runs() {
  std::string path = __FILE__;
  path = path.substr(0, path.find_last_of('/') + 1) + "torch_optimizers.json";
  std::ifstream file(path);
  if (!file) FAIL("cannot open " << path);
  return json::parse(file);
}

std::vector<double> initial_weights(int n) {
  std::vector<double> w;
  for (int i = 0; i < n; ++i) w.push_back(((29 * i + 3) % 17 - 8) / 8.0);
  return w;
}

std::vector<double> gradient(int t, int n) {
  std::vector<double> g;
  for (int i = 0; i < n; ++i)
    g.push_back(std::ldexp((37 * t + 101 * i + 7 * t * i) % 257 - 128, -(8 + 3 * i)));
  return g;
}

ReferenceOptions options_of(const json& run) {
  const json& o = run["options"];
  return {run["optimizer"],         o["lr"],
          o.value("momentum", 0.0), o.value("weight_decay", 0.0),
          o.value("beta1", 0.9),    o.value("beta2", 0.999),
          o.value("eps", 1e-8)};
}

TEST_CASE("the float64 reference optimizers follow torch.optim for 100 steps") {
  const json recorded = recorded_runs();
  INFO("recorded by torch " << recorded["header"]["torch"] << " on " << recorded["header"]["date"]);
  std::set<std::string> kinds;
  for (const json& run : recorded["runs"]) {
    kinds.insert(run["optimizer"].get<std::string>());
    const int n = static_cast<int>(run["steps"][0]["weights"].size());
    ReferenceOptimizer reference(options_of(run), initial_weights(n));
    int t = 0;
    for (const json& sample : run["steps"]) {
      while (t < sample["step"].get<int>()) reference.step(gradient(++t, n));
      for (int i = 0; i < n; ++i) {
        const auto index = static_cast<std::size_t>(i);
        const std::string hex = sample["weights"][index];
        const double expected = std::strtod(hex.c_str(), nullptr);
        const double error = std::fabs(reference.weights()[index] - expected);
        INFO(run["optimizer"] << " " << run["options"].dump() << ", step " << t << ", weight " << i << ": "
                              << reference.weights()[index] << ", torch " << expected);
        REQUIRE(error <= 1e-13);
      }
    }
    REQUIRE(t == 100);
  }
  CHECK(kinds == std::set<std::string>{"sgd", "adam", "adamw", "adagrad"});
}

}  // namespace
}  // namespace tinymp::test
