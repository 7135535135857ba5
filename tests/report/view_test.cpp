#include <lessons/lab/report/section.h>
#include <tests/catch.h>
#include <tests/report/sample_runs.h>
#include <cmath>
#include <sstream>

using namespace tinymp;
using namespace tinymp::report;

namespace {

std::string printed(ReportSection section, const RunsView& view) {
  section.view = view;
  std::ostringstream out;
  print_section(out, section, {.unicode = true, .colour = false, .width = 80});
  return out.str();
}

std::vector<Panel> panels_of(const std::vector<Group>& groups, const RunsView& view) {
  std::vector<Panel> panels;
  draw_view(groups, view, [&](const Panel& panel) { panels.push_back(panel); });
  return panels;
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a view without wishes prints what it always has") {
  const ReportSection section = sample::small_gradients();
  std::ostringstream plain;
  print_section(plain, section, {.unicode = true, .colour = false, .width = 80});
  CHECK(printed(section, {}) == plain.str());
  CHECK(has(plain.str(), "Loss scale S"));
  CHECK_FALSE(has(plain.str(), "95 % interval"));
}

TEST_CASE("one metric is one chart, with what the logs do not have told in a sentence") {
  const ReportSection section = sample::small_gradients();
  const std::string flushed = printed(section, {.metric = "flushed"});
  CHECK(has(flushed, "Gradients flushed to zero"));
  CHECK_FALSE(has(flushed, "Training loss"));
  CHECK(has(flushed, "No flushed in the logs of FP32."));
  CHECK(has(printed(section, {.metric = "grad_norm"}), "These logs do not have grad_norm."));
  CHECK(
      has(printed(section, {.metric = "accuracy"}), "do not have accuracy; what they measure is test MSE."));
  CHECK(has(printed(section, {.metric = "mse"}),
            "do not have mse on the way, only at the end: the table shows it."));
  CHECK(has(printed(section, {.x = XAxis::seconds}), "whose logs do not record seconds at their steps"));
}

TEST_CASE("a metric that was measured on the way has a curve, and the table its best value") {
  ReportSection section = sample::small_gradients();
  for (Run& run : section.runs)
    for (train::LogRecord& record : run.steps)
      if (record.step % 100 == 0) record.metric = 1.0 / static_cast<double>(record.step);
  const std::string text = printed(section, {.against = "FP32", .metric = "mse"});
  CHECK(has(text, "Validation MSE, mean and band of 3 seeds"));
  CHECK(has(text, "best"));
  CHECK(has(text, "95 % interval"));
  CHECK(has(text, "test MSE against FP32"));
}

TEST_CASE("an epoch is counted from batch and training set, or taken from the log") {
  const ReportSection section =
      sample::make_section("Q", "", {{.name = "a", .recipe = {}, .start = 2, .end = 1, .decay = 0.1}}, 1, 45);
  const std::vector<Group> groups = group_by_recipe(section.runs);
  const std::vector<Panel> panels = panels_of(groups, {.x = XAxis::epoch});
  REQUIRE(panels.size() >= 1);
  const Curve& curve = panels[0].curves[0];
  CHECK(panels[0].title == "Training loss against epoch");
  CHECK(curve.step.front() == 2048.0 / 9000);
  CHECK(curve.step.back() == 45 * 2048.0 / 9000);
  std::vector<Run> runs = section.runs;
  for (train::LogRecord& record : runs[0].steps) record.epoch = 3 + static_cast<double>(record.step);
  CHECK(panels_of(group_by_recipe(runs), {.x = XAxis::epoch})[0].curves[0].step.back() == 48);
}

TEST_CASE("smoothing is the page's: a moving average freed of its start") {
  std::vector<Run> runs =
      sample::make_section("Q", "", {{.name = "a", .recipe = {}, .start = 2, .end = 1, .decay = 0.1}}, 1, 3)
          .runs;
  runs[0].steps[0].loss = 4;
  runs[0].steps[1].loss = 2;
  runs[0].steps[2].loss = 8;
  const std::vector<Panel> panels = panels_of(group_by_recipe(runs), {.smooth = 0.5});
  const std::vector<double>& values = panels[0].curves[0].mean;
  CHECK(values[0] == 4);
  CHECK(std::abs(values[1] - (0.25 * 4 + 0.5 * 2) / 0.75) < 1e-12);
  CHECK(std::abs(values[2] - (0.125 * 4 + 0.25 * 2 + 0.5 * 8) / 0.875) < 1e-12);
}

TEST_CASE("groups by a field have one curve each, with a band") {
  const ReportSection section = sample::small_gradients();
  const std::string text = printed(section, {.by = "seed", .logarithmic = true});
  CHECK(has(text, "Training loss, logarithmic"));
  for (const char* const name : {"seed 0", "seed 1", "seed 2"}) CHECK(has(text, name));
  CHECK_FALSE(has(text, "FP16, S = 1024"));
}

TEST_CASE(
    "validation loss, skips and the learning rate can be asked for, and a metric is that of the validation "
    "data") {
  const ReportSection section = sample::trained();
  const std::vector<Group> groups = group_by_recipe(section.runs);
  for (const auto& [name, title] :
       {std::pair{"validation_loss", "Validation loss"}, std::pair{"lr", "Learning rate"},
        std::pair{"skips", "Steps skipped so far"}, std::pair{"accuracy", "Validation accuracy (%)"}}) {
    const std::vector<Panel> panels = panels_of(groups, {.metric = name});
    REQUIRE(panels.size() == 1);
    CHECK(panels[0].title == title);
    CHECK(panels[0].curves.size() == 3);
    CHECK(panels_of(groups, {.metric = name, .x = XAxis::epoch})[0].title ==
          tinymp::concat(title, " against epoch"));
  }
}
