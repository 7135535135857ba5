#include <lessons/lab/bench/cpu_gemm.h>
#include <lessons/lab/bench/race.h>
#include <lessons/lab/bench/steps.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tinymp/nn/mlp.h>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

// How ./learn bench compares: turns, medians, and that what it calls a training step trains.
namespace tinymp::test {
namespace {

using namespace kernels::bench;

/// Takes as long as it is told, and writes down its turn.
Contender pretended(const char* name, std::vector<double> seconds, std::vector<std::string>& turns) {
  return {name, [name, seconds, &turns, next = std::size_t{0}](int) mutable {
            turns.emplace_back(name);
            return seconds[next++ % seconds.size()];
          }};
}

TEST_CASE("bench race: contenders take turns, and medians and minima are theirs") {
  std::vector<std::string> turns;
  const std::vector<Contender> contenders = {pretended("even", {0.005}, turns),
                                             pretended("uneven", {0.1, 0.1, 0.4, 0.2, 0.9}, turns)};
  const std::vector<Timing> timings =
      race(contenders, {.rounds = 5, .sample_seconds = 0.02, .patience = 10, .least = 3});
  REQUIRE(timings.size() == 2);
  CHECK((timings[0].runs == 4 && timings[0].samples == 5));  // 4 x 5 ms fill 20 ms
  CHECK((timings[1].runs == 1 && timings[1].samples == 5));
  CHECK(timings[0].median == 0.005);
  CHECK(timings[1].median == 0.2);  // of 0.4 0.2 0.9 0.1 0.1: the first two looks do not count
  CHECK(timings[1].fastest == 0.1);
  REQUIRE(turns.size() == 4 + 10);
  for (std::size_t i = 4; i < turns.size(); ++i) CHECK(turns[i] != turns[i - 1]);
}

TEST_CASE(
    "bench race: a slow contender gets fewer samples, at least three, evenly spread, one without end gets "
    "one") {
  std::vector<std::string> turns;
  const std::vector<Contender> contenders = {pretended("fast", {0.001}, turns), pretended("slow", {7}, turns),
                                             pretended("slower", {15}, turns),
                                             pretended("endless", {100}, turns)};
  const std::vector<Timing> timings =
      race(contenders, {.rounds = 9, .sample_seconds = 0.02, .patience = 29, .least = 3});
  CHECK(timings[0].samples == 9);
  CHECK(timings[1].samples == 4);
  CHECK(timings[2].samples == 3);
  CHECK(timings[3].samples == 1);
  turns.erase(turns.begin(), turns.begin() + 8);
  std::string order;
  for (const std::string& turn : turns)
    order += turn == "fast" ? "." : turn == "slow" ? "s" : turn == "slower" ? "x" : "e";
  CHECK(order == "...sx..s.x.s..sxe");
}

TEST_CASE("bench race: a first run that compiles is no measure of the others") {
  std::vector<std::string> turns;
  std::vector<double> seconds(100, 0.001);
  seconds[0] = 30;
  const std::vector<Contender> contenders = {pretended("compiled", seconds, turns)};
  const Timing timing = race(contenders, {.rounds = 9, .sample_seconds = 0.02, .patience = 3})[0];
  CHECK(timing.runs == 20);
  CHECK(timing.samples == 9);
  CHECK(timing.median == 0.001);
}

TEST_CASE("bench race: medians") {
  CHECK(median({}) == 0);
  CHECK(median({3}) == 3);
  CHECK(median({9, 1, 5}) == 5);
  CHECK(median({4, 1, 2, 9}) == 3);
}

TEST_CASE("bench race: a sample begins with a run that does not count, unless it is a single one") {
  int calls = 0;
  CHECK(seconds_of([&] { ++calls; }, 3) >= 0);
  CHECK(calls == 4);
  seconds_of([&] { ++calls; }, 1);
  CHECK(calls == 5);
}

TEST_CASE("bench cpu-gemm: the table fits into 80 columns, and breaks no name and no matrix") {
  CpuGemmReport report;
  const Timing timing{.median = 0.0123, .fastest = 0.01, .samples = 3, .runs = 1};
  for (const ProductShape& shape : layers(false)) {
    for (const ProductFormat format : product_formats)
      report.rows.push_back({shape, format, "", timing, timing, timing, "", "", 1234, 1.25});
  }
  const std::string table = report::format_table(report.table(), {.unicode = false, .width = 80});
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(line.size() <= 80);
  }
  INFO(table);
  for (const char* whole :
       {"autoencoder 4 dx", "\n(1024,784) ", "\n(64,784)^T ", "f16 sums", "OpenBLAS", "PyTorch"})
    CHECK(table.find(whole) != std::string::npos);
  CHECK(table.find("\n^T") == std::string::npos);
}

TEST_CASE("bench steps: a step trains, under every recipe") {
  std::set<std::string> names;
  std::vector<StepModel> models(step_models().begin(), step_models().end());
  for (const StepModel& model : gpu_step_models())
    if (model.words == 0 && model.name != std::string("wide")) models.push_back(model);
  for (StepModel& model : models) {
    names.insert(model.name);
    model.batch = 8;
    for (const StepRecipe& recipe : step_recipes()) {
      INFO(model.what << ", " << recipe.name);
      Training training(model, recipe.recipe);
      const double before = training.loss();
      // The gradients of the residual MLP overflow under the first loss scales: it skips some steps.
      const int steps = model.name == std::string("residual") ? 16 : 4;
      for (int i = 0; i < steps; ++i) training.step();
      CHECK(training.loss() < before);
    }
  }
  CHECK(names.size() == step_models().size() + 2);
}

const StepModel& gpu_model(const std::string& name) {
  return *std::ranges::find_if(gpu_step_models(), [&](const StepModel& model) { return model.name == name; });
}

/// Trains in small, under every recipe.
void check_trains(StepModel model, std::int64_t width, std::int64_t parameters) {
  model.batch = 2, model.values = 3, model.words = 40, model.width = width;
  for (const StepRecipe& recipe : step_recipes()) {
    INFO(recipe.name);
    Training training(model, recipe.recipe, Device::cuda);
    CHECK(training.parameters() == parameters);
    const double before = training.loss();
    CHECK(before > 2.5);
    for (int i = 0; i < 16; ++i) training.step();
    const double eager = training.loss();
    CHECK(eager < before);
    training.record();
    for (int i = 0; i < 16; ++i) training.graph_step();
    CHECK(training.loss() < eager);
  }
}

TEST_CASE("bench steps: a language model trains, and as a graph too") {
  const files::Environment emulated("TINYMP_EMULATE", "1");
  const StepModel& words = gpu_model("words");
  CHECK(words.words * words.width * 2 + words.words ==
        532480);  // table, last layer and its bias, of lesson 11
  // PyTorch's Embedding(40, 8), LSTM(8, 8) with one bias, Linear(8, 40).
  check_trains(words, 8, 40 * 8 + (8 + 8) * 32 + 32 + 8 * 40 + 40);
}

TEST_CASE("bench steps: a decoder trains, and as a graph too") {
  const files::Environment emulated("TINYMP_EMULATE", "1");
  // Words and 3 positions; in each of 4 blocks four layers (16,16), two of four times the width, two norms; a norm.
  constexpr std::int64_t w = 16;
  check_trains(gpu_model("decoder"), w,
               (40 + 3) * w + 4 * (4 * (w * w + w) + 8 * w * w + 5 * w + 4 * w) + 2 * w);
}

/// An MLP that looks at its logits, which a graph cannot hold.
class Looking : public nn::Model {
 public:
  Looking(const Recipe& recipe, Rng& rng) : mlp_({784, 10}, recipe, rng) {}
  Tensor operator()(const Tensor& images) const override {
    const Tensor y = mlp_(images);
    static_cast<void>(sum(y).item());
    return y;
  }
  std::vector<nn::Parameter> parameters() const override { return mlp_.parameters(); }
  std::string name() const override { return mlp_.name(); }

 private:
  nn::Mlp mlp_;
};

TEST_CASE("bench steps: a graph of ours that fails is told, and its step is timed all the same") {
  const files::Environment emulated("TINYMP_EMULATE", "1");
  const files::Environment no_python("TINYMP_PYTHON", "/no/such/python");
  StepModel model = step_models()[0];
  model.what = "an MLP that looks";
  model.batch = 2;
  model.model = [](const StepModel&, const Recipe& recipe, Rng& rng) -> std::unique_ptr<nn::Model> {
    return std::make_unique<Looking>(recipe, rng);
  };
  const StepModel* const one[] = {&model};
  PyTorch pytorch(1, Device::cuda);
  const StepsReport report =
      bench_steps(pytorch, one, Device::cuda, {.rounds = 1, .sample_seconds = 0, .patience = 0, .least = 1},
                  [](const std::string&) {});
  CHECK(report.rows[0].ours.median > 0);
  CHECK(report.fault.starts_with("an MLP that looks, f32, as a graph: not timed: "));
  CHECK(report.table().rows[0][3] == "FAILED");
  CHECK(report.table().rows[0][2] != "FAILED");
}

TEST_CASE("bench: a PyTorch that gives no answer in time is ended, busy as it is") {
  const files::Folder folder;
  const std::filesystem::path python = folder.path / "python";
  std::ofstream(python) << R"(#!/bin/sh
read hello && echo '{"version": "0", "built with": "nothing", "threads": 1}'
exec sleep 60
)";
  std::filesystem::permissions(python, std::filesystem::perms::owner_all);
  const files::Environment pretended_python("TINYMP_PYTHON", python.c_str());
  const auto start = std::chrono::steady_clock::now();
  PyTorch pytorch(1);
  REQUIRE(pytorch.why_not().empty());
  pytorch.wait_at_most(1);
  CHECK_THROWS_AS(pytorch.seconds("step mlp f32 1"), Error);
  CHECK(pytorch.why_not() == "no answer to 'step mlp f32 1' within 1 s");
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("bench: where there is no PyTorch, the wheel that is named suits the device") {
  const files::Environment nowhere("PATH", "/no/such/folder");
  CHECK(PyTorch(1, Device::cpu).why_not().find("whl/cpu") != std::string::npos);
  const std::string for_gpu = PyTorch(1, Device::cuda).why_not();
  CHECK(for_gpu.find("pip install torch,") != std::string::npos);
  CHECK(for_gpu.find("whl/cpu") == std::string::npos);
}

}  // namespace
}  // namespace tinymp::test
