#pragma once

#include <lessons/lab/report/section.h>
#include <tinymp/numeric/exp_log.h>
#include <algorithm>
#include <cmath>
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

/// Adds what `./learn train` measures besides: validation, learning rate, norm of the gradients, sizes, memory.
inline void measure_all(Run& run, double start, double end) {
  std::uint64_t state = run.header.seed + 7 * run.header.name.size();
  const std::int64_t steps = run.header.steps;
  run.header.metric = "test accuracy (%)";
  run.header.higher_is_better = true;
  for (tinymp::train::LogRecord& record : run.steps) {
    const double t = static_cast<double>(record.step) / static_cast<double>(steps);
    const double left = tinymp::exp(-6 * t);
    record.lr = record.step <= steps / 20 ? 0.4 * t : 0.02 * (1.05 - t);
    record.grad_norm = (0.2 + 4 * left) * (1 + 0.5 * noise(state));
    record.epoch = 12 * t;
    record.seconds = 9 * t;
    if (record.step % (steps / 20) == 0) {
      record.validation_loss = (end + (start - end) * left) * (1.04 + 0.03 * noise(state));
      record.metric = 94 - 60 * left - 4 * end + noise(state);
    }
    if (record.step % (steps / 40) != 1) continue;
    tinymp::train::StepSizes look{
        .step = record.step, .scale = record.scale, .parameters = {{.name = "1 weight"}}};
    tinymp::train::Histogram& sizes = look.parameters[0].gradients.sizes;
    sizes.first = -34 - static_cast<int>(8 * t) + std::ilogb(record.scale);  // of g S
    for (int i = 0; i < 26; ++i)
      sizes.counts.push_back(1 + static_cast<std::int64_t>(5e4 * tinymp::exp(-0.03 * (i - 15) * (i - 15))));
    sizes.zeros = 900;
    run.sizes.push_back(std::move(look));
  }
  if (!run.result) return;
  const bool half = run.header.recipe.compute == tinymp::DType::f16;
  run.result->memory = {.weights = half ? 203'530 : 407'060,
                        .masters = half ? 407'060 : 0,
                        .optimizer = 814'120,
                        .gradients = half ? 203'530 : 407'060,
                        .activations = half ? 1'650'000 : 3'200'000,
                        .workspace = 90'112};
  run.result->peak_bytes = half ? 3'100'400 : 4'700'200;
}

/// Three techniques of one training with everything that a log can hold, FP32 being the baseline.
inline ReportSection trained(std::int64_t steps = 400) {
  using namespace tinymp;
  Recipe huge = recipes::fp16_static;
  huge.scaling = StaticScaling{.factor = 0x1p24f};
  ReportSection section = make_section("How do formats train an MLP?", "",
                                       {{.name = "FP32",
                                         .recipe = recipes::fp32,
                                         .start = 2.3,
                                         .end = 0.2,
                                         .decay = 0.012,
                                         .lost = 0.01,
                                         .metric = 93.6},
                                        {.name = "FP16, dynamic S",
                                         .recipe = recipes::fp16_dynamic,
                                         .start = 2.3,
                                         .end = 0.21,
                                         .decay = 0.0118,
                                         .lost = 0.01,
                                         .flushed = 0.03,
                                         .metric = 93.5},
                                        {.name = "FP16, S = 2^24",
                                         .recipe = huge,
                                         .start = 2.3,
                                         .end = 0.9,
                                         .decay = 0.01,
                                         .flushed = 0.01,
                                         .nan_from = 150,
                                         .metric = 0}},
                                       3, steps);
  for (Run& run : section.runs) {
    run.sizes.clear();
    measure_all(run, 2.3, run.header.recipe == recipes::fp32 ? 0.2 : 0.21);
    if (run.header.recipe != huge) continue;
    run.findings.push_back(
        {.kind = "first bad",
         .step = 150 + static_cast<std::int64_t>(run.header.seed),
         .sentence = "Step 150, backward: the first infinity is in the gradient of layer 2 weight, "
                     "(64, 10), f16. What it is made of reaches 81920."});
    run.findings.push_back(
        {.kind = "passing", .step = 120, .sentence = "Step 120: a gradient overflowed for one step."});
  }
  section.view.against = "FP32";
  return section;
}

/// Names that end a tag, a script or a string, turn the direction of writing, or are a word to JavaScript or CSV.
inline std::vector<std::string> hostile_names() {
  using namespace std::string_literals;
  return {"</script><script>throw 1</script>",
          "<img src=x onerror=throw(2)>",
          "\"><svg onload=throw(3)>",
          "' onmouseover='throw 4",
          "<!-- --><![CDATA[ ]]> -->",
          "&lt;b&gt; &amp; &#x3c;i&#x3e;",
          "__proto__",
          "constructor",
          "NaN",
          "-inf, 1e308, 2^1024",
          "bell \x07, escape \x1b[31m, zero \0, delete \x7f"s,
          "\xE2\x80\xAE"
          "desrever \xE2\x80\x8F \xE2\x81\xA6 isolate",
          "line \xE2\x80\xA8 separator \xE2\x80\xA9 end",
          "bytes \xff\xfe \xC0\x80 \xED\xA0\x80",
          std::string(500, 'W'),
          "javascript:throw(16) ${throw 17} {{throw 18}} \\u003cscript>"};
}

/// Sixteen runs with these names, whose fields and values are as hostile.
inline ReportSection sixteen_hostile() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> values = {1e308, -1e308, 5e-324, std::nan(""), infinity, -infinity, 0, -1};
  const std::vector<std::string> names = hostile_names();
  ReportSection section{"Sixteen <b>hostile</b> names", "", {}};
  for (std::size_t i = 0; i < names.size(); ++i) {
    Run run = make_run(
        {.name = names[i], .recipe = tinymp::recipes::fp16_dynamic, .start = 2, .end = 1, .decay = 0.1},
        section.question, i, 40);
    for (std::string* field :
         {&run.header.model, &run.header.data, &run.header.optimizer, &run.header.metric, &run.header.command,
          &run.header.commit, &run.header.device, &run.header.pieces})
      *field = names[(i + 1) % names.size()];
    run.path = names[(i + 2) % names.size()];
    for (std::size_t k = 0; k < run.steps.size(); ++k) {
      tinymp::train::LogRecord& record = run.steps[k];
      record.validation_loss = values[(i + k) % values.size()];
      record.metric = values[(i + k + 1) % values.size()];
      record.grad_norm = values[(i + k + 2) % values.size()];
      record.lr = values[(i + k + 3) % values.size()];
      if (k % 4 == i % 4) record.loss = values[(i + k / 4) % values.size()];
    }
    run.result->value = values[i % values.size()];
    run.result->seconds = values[(i + 1) % values.size()];
    run.result->peak_bytes = std::numeric_limits<std::int64_t>::max();
    run.result->memory.weights = std::numeric_limits<std::int64_t>::max();
    run.findings.push_back({.kind = "first bad", .step = static_cast<std::int64_t>(i), .sentence = names[i]});
    section.runs.push_back(std::move(run));
  }
  section.view.against = names[0];
  return section;
}

}  // namespace sample
