#pragma once

#include <lessons/lab/report/section.h>
#include <tinymp/numeric/exp_log.h>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

/// Made-up runs with everything that a real one can have: several seeds, a NaN, skips, an interruption,
/// hostile names.
namespace sample {

using tinymp::Recipe;
using tinymp::report::ReportSection;
using tinymp::train::Run;

struct Shape {
  std::string name;
  Recipe recipe;
  double start, end, decay;        ///< loss = end + (start - end) exp(-decay step)
  double lost = -1, flushed = -1;  ///< share; below 0: not measured
  std::int64_t nan_from = 0;       ///< 0: never
  std::int64_t cut_at = 0;         ///< 0: not interrupted
  double metric = 0;
};

inline double noise(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state >> 40) / 16777216.0 - 0.5;
}

inline Run make_run(const Shape& shape, const std::string& question, std::uint64_t seed, std::int64_t steps) {
  Run run;
  run.path = "runs/quickstart-001/" + std::to_string(seed) + ".jsonl";
  run.header = {
      .lesson = "quickstart", .question = question, .name = shape.name, .recipe = shape.recipe, .seed = seed};
  run.header.model = "autoencoder 784-64-32-64-784 sigmoid";
  run.header.data = "fashion-mnist-cut (9000 train, 1000 validation, 1000 test)";
  run.header.optimizer = "adam lr=0.01";
  run.header.steps = steps;
  run.header.batch = 2048;
  run.header.metric = "test MSE";
  run.header.command = "./learn quickstart --seeds 3";
  run.header.date = "2026-05-04T09:30:00Z";
  run.header.commit = "44ca0ca1f20b";
  run.header.compiler = "g++ 12.2.0";
  run.header.device = "AMD EPYC 7B13";
  run.header.threads = 2;

  std::uint64_t state = seed * 977 + shape.name.size();
  const auto* dynamic = std::get_if<tinymp::DynamicScaling>(&shape.recipe.scaling);
  const auto* constant = std::get_if<tinymp::StaticScaling>(&shape.recipe.scaling);
  double scale = dynamic != nullptr ? dynamic->initial : constant != nullptr ? constant->factor : 1;
  std::int64_t skips = 0;
  const std::int64_t last = shape.cut_at > 0 ? shape.cut_at : steps;
  for (std::int64_t step = 1; step <= last; ++step) {
    tinymp::train::LogRecord record;
    record.step = step;
    const double t = static_cast<double>(step);
    record.loss = shape.end + (shape.start - shape.end) * tinymp::exp(-shape.decay * t);
    record.loss *= 1 + 0.08 * noise(state);
    if (shape.nan_from > 0 && step >= shape.nan_from) record.loss = std::numeric_limits<double>::quiet_NaN();
    record.scale = scale;
    if (dynamic != nullptr && (step <= 3 || (step > 50 && step % 97 == static_cast<std::int64_t>(seed)))) {
      record.skipped = true;
      ++skips;
      scale *= dynamic->backoff;
    } else if (dynamic != nullptr && step % 60 == 0) {
      scale *= dynamic->growth;
    }
    record.skips = skips;
    if (shape.lost >= 0 && step % 5 == 1) {
      record.underflowed = 0.2 * shape.lost;
      record.absorbed = 0.8 * shape.lost * (1 + 0.2 * noise(state)) * (1 - tinymp::exp(-t / 40));
    }
    if (shape.flushed >= 0 && step % 5 == 1)
      record.flushed = shape.flushed * (1 - 0.3 * tinymp::exp(-t / 30));
    run.steps.push_back(record);
  }
  if (shape.flushed > 0) {
    const auto part = static_cast<std::int64_t>(1000 * shape.flushed);
    tinymp::train::ParameterSizes sizes;
    sizes.name = "1 (784, 64) </i>";
    sizes.gradients.sizes = {.zeros = 5, .first = -27, .counts = {part, 0, 0, 1000 - part}};
    sizes.gradients.largest = 0x1p-24;
    sizes.gradients.subnormal = 1000 - part;
    sizes.gradients.flushed = part;
    sizes.updates.emplace().ratios = {.first = 9, .counts = {40, 30, 20, 10}};
    sizes.updates->absorbed = 9;
    tinymp::train::StepSizes look{.step = steps, .scale = scale, .parameters = {}};
    look.parameters.push_back(sizes);
    run.sizes.push_back(look);
  }
  if (shape.cut_at > 0) return run;
  const double value = shape.nan_from > 0 ? std::numeric_limits<double>::quiet_NaN()
                                          : shape.metric * (1 + 0.01 * static_cast<double>(seed));
  run.result = tinymp::train::RunResult{.value = value,
                                        .taken = steps - skips,
                                        .skipped = skips,
                                        .first_nonfinite_step = shape.nan_from,
                                        .seconds = 9.25 + static_cast<double>(seed)};
  return run;
}

inline ReportSection make_section(const std::string& question, const std::string& verdict,
                                  const std::vector<Shape>& shapes, std::uint64_t seeds, std::int64_t steps) {
  ReportSection section{question, verdict, {}};
  for (const Shape& shape : shapes) {
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
      section.runs.push_back(make_run(shape, question, seed, steps));
    }
  }
  return section;
}

inline ReportSection small_updates() {
  using namespace tinymp;
  return make_section(
      "Do small updates survive?",
      "No: with FP16 weights 83 % of the updates moved nothing, and the test MSE ends 1.9 times as high as "
      "in FP32; with an FP32 master it ends within 0.2 %.",
      {{.name = "FP32",
        .recipe = recipes::fp32,
        .start = 2.4,
        .end = 0.6,
        .decay = 0.01,
        .lost = 0.02,
        .metric = 0.62},
       {.name = "FP16 weights",
        .recipe = recipes::fp16_weights,
        .start = 2.4,
        .end = 1.7,
        .decay = 0.006,
        .lost = 0.83,
        .metric = 1.71},
       {.name = "FP16 + FP32 master",
        .recipe = recipes::fp16_master,
        .start = 2.4,
        .end = 0.6,
        .decay = 0.01,
        .lost = 0.02,
        .metric = 0.621}},
      3, 400);
}

inline ReportSection small_gradients() {
  using namespace tinymp;
  Recipe huge = recipes::fp16_static;
  huge.scaling = StaticScaling{.factor = 0x1p28f};
  Recipe dynamic = recipes::fp16_dynamic;
  dynamic.scaling = DynamicScaling{.growth_interval = 100};
  return make_section(
      "Do small gradients survive?",
      "Not without a loss scale: at S = 1 the test MSE is 75 % higher than in FP32; static and dynamic "
      "scaling end within 1 %.",
      {{.name = "FP32",
        .recipe = recipes::fp32,
        .start = 0.23,
        .end = 0.042,
        .decay = 0.02,
        .metric = 0.0420},
       {.name = "FP16, S = 1",
        .recipe = recipes::fp16_master,
        .start = 0.23,
        .end = 0.0735,
        .decay = 0.03,
        .flushed = 0.97,
        .metric = 0.0735},
       {.name = "FP16, S = 1024",
        .recipe = recipes::fp16_static,
        .start = 0.23,
        .end = 0.0421,
        .decay = 0.02,
        .flushed = 0.04,
        .metric = 0.0421},
       {.name = "FP16, dynamic",
        .recipe = dynamic,
        .start = 0.23,
        .end = 0.0419,
        .decay = 0.019,
        .flushed = 0.01,
        .metric = 0.0419},
       {.name = "FP16, S = 2^28",
        .recipe = huge,
        .start = 0.23,
        .end = 0.1,
        .decay = 0.02,
        .flushed = 0,
        .nan_from = 12,
        .metric = 0}},
      3, 400);
}

/// Names that would break out of HTML, of a script, or of a JavaScript object; one run without a finite loss.
inline ReportSection hostile() {
  using namespace tinymp;
  return make_section("Is </script><script>throw 1</script> & \"this\" 'quoted'? \xE2\x80\xA8 <!--",
                      "</script><img src=http://example.invalid/x.png onerror=\"throw 2\">",
                      {{.name = "<img src=http://example.invalid/y.png onerror=throw(3)>",
                        .recipe = recipes::fp32,
                        .start = 900,
                        .end = 0.5,
                        .decay = 0.2,
                        .metric = 0.5},
                       {.name = "__proto__",
                        .recipe = recipes::fp16_static,
                        .start = 2,
                        .end = 1,
                        .decay = 0.1,
                        .cut_at = 30,
                        .metric = 1},
                       {.name = "never <i>finite</i>",
                        .recipe = recipes::fp16_weights,
                        .start = 2,
                        .end = 1,
                        .decay = 0.1,
                        .nan_from = 1,
                        .metric = 1}},
                      1, 60);
}

}  // namespace sample
