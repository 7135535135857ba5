#include <lessons/lab/report/curves.h>
#include <tests/catch.h>
#include <tests/report/sample_runs.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

using namespace tinymp::report;
using tinymp::train::LogRecord;

namespace {

Run run_of(const std::string& name, std::uint64_t seed, const std::vector<double>& losses) {
  Run run;
  run.header.name = name;
  run.header.seed = seed;
  std::int64_t step = 0;
  for (double loss : losses) run.steps.push_back({.step = step += 10, .loss = loss});
  return run;
}

Curve curve_of(const std::vector<Run>& runs, Quantity quantity) {
  const std::vector<Group> groups = group_by_recipe(runs);
  REQUIRE(groups.size() == 1);
  return make_curve(groups[0], quantity);
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("seeds become one curve: mean, smallest, largest, of those that are finite") {
  const Curve curve = curve_of({run_of("a", 0, {1, 2, 3}), run_of("a", 1, {3, not_a_number, not_a_number}),
                                run_of("a", 2, {5, 6, not_a_number, not_a_number})},
                               Quantity::loss);
  CHECK(curve.seeds == 3);
  CHECK(curve.step == std::vector<double>{10, 20, 30, 40});
  CHECK(curve.mean[0] == 3);
  CHECK(curve.low[0] == 1);
  CHECK(curve.high[0] == 5);
  CHECK(curve.mean[1] == 4);
  CHECK(curve.mean[2] == 3);
  CHECK(std::isnan(curve.mean[3]));
  REQUIRE(curve.ends.size() == 2);
  CHECK(curve.ends[0].step == 10);
  CHECK(curve.ends[0].value == 3);
  CHECK(curve.ends[0].nonfinite_step == 20);
  CHECK(curve.ends[1].nonfinite_step == 30);
  CHECK(ends_text(curve) == "step 20..30 (2 of 3 seeds)");
}

TEST_CASE("a loss that recovers has a gap and no end, one that never was finite ends before it starts") {
  CHECK(curve_of({run_of("a", 0, {1, infinity, 3})}, Quantity::loss).ends.empty());
  const Curve never = curve_of({run_of("a", 0, {not_a_number, infinity})}, Quantity::loss);
  REQUIRE(never.ends.size() == 1);
  CHECK(never.ends[0].step == 0);
  CHECK(never.ends[0].nonfinite_step == 10);
}

TEST_CASE("the first bad step is the loop's where it looked more often than the log") {
  std::vector<Run> runs = {run_of("a", 0, {1, not_a_number}), run_of("a", 1, {1, 2, not_a_number}),
                           run_of("a", 2, {1, 2, 3})};
  for (Run& run : runs) run.result.emplace();
  runs[0].result->first_nonfinite_step = 12;
  runs[1].result->first_nonfinite_step = 7;  // it was finite again at 10 and 20
  const Curve curve = curve_of(runs, Quantity::loss);
  REQUIRE(curve.ends.size() == 2);
  CHECK(curve.ends[0].step == 10);
  CHECK(curve.ends[0].nonfinite_step == 12);
  CHECK(curve.ends[1].nonfinite_step == 30);
  CHECK(ends_text(curve) == "step 12..30 (2 of 3 seeds)");
  CHECK(ends_text(curve_of({runs[0]}, Quantity::loss)) == "step 12");
  runs[0].result->first_nonfinite_step = 2;
  runs[0].steps.erase(runs[0].steps.begin());
  CHECK(ends_text(curve_of({runs[0]}, Quantity::loss)) == "step 2");
}

TEST_CASE("two runs of one seed are one seed") {
  const Run run = run_of("a", 3, {1, not_a_number});
  CHECK(curve_of({run, run}, Quantity::loss).seeds == 1);
  const Curve curve = curve_of({run, run, run_of("a", 4, {1, 2})}, Quantity::loss);
  CHECK(curve.seeds == 2);
  CHECK(ends_text(curve) == "step 20 (1 of 2 seeds)");
}

TEST_CASE("shares count where they were measured, and lost says how") {
  Run run = run_of("a", 0, {1, 1, 1, 1});
  run.steps[1].underflowed = 0.25;
  run.steps[1].absorbed = 0.5;
  run.steps[2].absorbed = 0.125;
  const Curve lost = curve_of({run}, Quantity::lost);
  CHECK(lost.step == std::vector<double>{20, 30});
  CHECK(lost.mean == std::vector<double>{0.75, 0.125});
  CHECK(lost.note == "25 % underflowed, 31 % absorbed");
  CHECK(curve_of({run}, Quantity::flushed).step.empty());
}

TEST_CASE("the middle of loss scales is taken on the powers of two") {
  Run low = run_of("a", 0, {1}), high = run_of("a", 1, {1});
  low.steps[0].scale = 1024;
  high.steps[0].scale = 65536;
  const Curve curve = curve_of({low, high}, Quantity::scale);
  CHECK(curve.mean[0] == Approx(8192));
  high.steps[0].scale = 1024;
  CHECK(curve_of({low, high}, Quantity::scale).mean[0] == 1024);
}

TEST_CASE("panels are drawn where there is something to see") {
  const auto titles = [](const ReportSection& section) {
    const std::vector<Group> groups = group_by_recipe(section.runs);
    std::vector<std::string> names;
    for (const Panel& panel : make_panels(groups)) names.push_back(panel.title);
    return names;
  };
  CHECK(titles(sample::small_updates()) ==
        std::vector<std::string>{"Training loss", "Updates that moved nothing"});
  CHECK(titles(sample::small_gradients()) ==
        std::vector<std::string>{"Training loss", "Loss scale S", "Gradients flushed to zero"});
  CHECK(titles(sample::hostile()) ==
        std::vector<std::string>{"Training loss"});  // constant scales: in the table
  CHECK(titles(sample::trained()) ==
        std::vector<std::string>{"Training loss", "Validation loss", "Validation accuracy (%)",
                                 "Loss scale S", "Updates that moved nothing", "Gradients flushed to zero"});
  CHECK(titles({"", "", {}}).empty());
  CHECK(titles({"", "", {run_of("a", 0, {})}}).empty());  // interrupted before its first step

  const std::vector<Run> steep = {run_of("a", 0, {900, 1})}, gentle = {run_of("a", 0, {2, 1})},
                         crossing = {run_of("a", 0, {900, 0})};
  CHECK(make_panels(group_by_recipe(steep))[0].scale == Scale::decades);
  CHECK(make_panels(group_by_recipe(gentle))[0].scale == Scale::linear);
  CHECK(make_panels(group_by_recipe(crossing))[0].scale == Scale::linear);
}

TEST_CASE("a learner's run is not averaged with the reference's") {
  std::vector<Run> runs = {run_of("FP16", 0, {1}), run_of("FP16", 1, {1}), run_of("FP16", 0, {3})};
  runs[2].header.pieces = "half: YOURS | scaler: REFERENCE";
  const std::vector<Group> groups = group_by_recipe(runs);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].name == "FP16");
  CHECK(groups[0].runs.size() == 2);
  CHECK(groups[1].name == "FP16 (YOURS: half)");
  // Nor is one averaged with what was written since.
  runs[0].header.pieces = runs[1].header.pieces = "half: YOURS | scaler: YOURS";
  const std::vector<Group> both = group_by_recipe(runs);
  REQUIRE(both.size() == 2);
  CHECK(both[0].name == "FP16 (YOURS: half, scaler)");
}

TEST_CASE("runs fall into sections by their question") {
  std::vector<Run> runs = {run_of("a", 0, {1}), run_of("b", 0, {1}), run_of("a", 1, {1})};
  runs[0].header.question = runs[2].header.question = "first?";
  runs[1].header.question = "second?";
  const std::vector<ReportSection> sections = sections_by_question(runs);
  REQUIRE(sections.size() == 2);
  CHECK(sections[0].question == "first?");
  CHECK(sections[0].runs.size() == 2);
  CHECK(sections[1].runs.size() == 1);
  runs[0].header.date = "2026-05-04T09:30:02Z";
  runs[1].header.date = "2026-05-04T09:30:00Z";
  runs[2].header.date = "2026-05-04T09:30:01Z";
  const std::vector<ReportSection> by_date = sections_by_question(runs);
  CHECK(by_date[0].question == "second?");
  CHECK(by_date[1].runs[0].header.seed == 1);
}

// The map is how points were found before, a step at a time.
TEST_CASE("runs whose steps interleave become points in order, each the mean of the runs that have it") {
  std::vector<Run> runs(3);
  for (std::size_t seed = 0; seed < runs.size(); ++seed) {
    runs[seed].header.seed = seed;
    for (std::int64_t i = 1; i <= 40; ++i)
      runs[seed].steps.push_back({.step = i * static_cast<std::int64_t>(seed + 1) - (seed == 2 ? 1 : 0),
                                  .loss = 1.0 / static_cast<double>(i + static_cast<std::int64_t>(seed))});
  }
  std::map<double, std::vector<double>> points;
  for (const Run& run : runs)
    for (const auto& record : run.steps) points[static_cast<double>(record.step)].push_back(record.loss);
  const std::vector<Group> groups = group_by_recipe(runs);
  REQUIRE(groups.size() == 1);
  const Curve curve = make_curve(groups[0], Quantity::loss);
  REQUIRE(curve.step.size() == points.size());
  std::size_t at = 0;
  for (const auto& [step, values] : points) {
    double sum = 0;
    for (const double value : values) sum += value;
    CHECK(curve.step[at] == step);
    CHECK(std::abs(curve.mean[at] - sum / static_cast<double>(values.size())) < 1e-15);
    CHECK(curve.low[at] == *std::ranges::min_element(values));
    CHECK(curve.high[at] == *std::ranges::max_element(values));
    ++at;
  }
}

TEST_CASE("a page draws skips, norms and learning rates, too, where they say something") {
  const auto titles = [](const std::vector<Run>& runs) {
    const std::vector<Group> groups = group_by_recipe(runs);
    std::string names;
    each_panel(groups, page_quantities, [&](const Panel& panel) { names += panel.title + "; "; });
    return names;
  };
  CHECK(titles(sample::trained().runs)
            .ends_with("Steps skipped so far; Norm of the gradients; Learning rate; "));
  Run a = run_of("a", 0, {3, 2}), b = run_of("b", 0, {3, 2});
  for (Run* run : {&a, &b})
    for (LogRecord& record : run->steps) record.lr = 0.1;
  CHECK(titles({a, b}) == "Training loss; ");
  b.steps[1].lr = 0.05;
  CHECK(titles({a, b}) == "Training loss; Learning rate; ");
  a.steps[1].skips = 1;
  CHECK(titles({a, b}) == "Training loss; Steps skipped so far; Learning rate; ");
}

TEST_CASE("the validation loss of a text, which is its metric too, is drawn once") {
  Run text = run_of("a", 0, {3, 2, 1}), image = run_of("b", 0, {3, 2, 1});
  text.header.metric = "validation loss";
  text.steps[1].metric = text.steps[1].validation_loss = 2.5;
  text.steps[2].metric = text.steps[2].validation_loss = not_a_number;
  image.header.metric = "test accuracy (%)";
  const auto titles = [](const std::vector<Run>& runs) {
    std::string all;
    for (const Panel& panel : make_panels(group_by_recipe(runs)))
      all += tinymp::concat(panel.title, " of ", panel.curves.size(), "; ");
    return all;
  };
  CHECK(titles({text}) == "Training loss of 1; Validation loss of 1; ");
  // It does not take the place of another metric.
  image.steps[1].metric = 90;
  image.steps[1].validation_loss = 0.3;
  CHECK(titles({text, image}) == "Training loss of 2; Validation loss of 2; Validation accuracy (%) of 1; ");
  // Another program may have measured it under this name alone.
  text.steps[1].validation_loss = text.steps[2].validation_loss = tinymp::train::not_measured;
  CHECK(titles({text}) == "Training loss of 1; Validation loss of 1; ");
}

TEST_CASE("on the way a metric is that of the validation data, and two metrics share no panel") {
  Run a = run_of("a", 0, {3, 2}), b = run_of("b", 0, {3, 2});
  a.header.metric = "test accuracy (%)";
  b.header.metric = "perplexity";
  a.steps[1].metric = 90;
  b.steps[1].metric = 7;
  CHECK(title_on_the_way(a) == "Validation accuracy (%)");
  CHECK(title_on_the_way(b) == "Perplexity");
  const std::vector<Run> runs = {a, b};
  const std::vector<Panel> panels = make_panels(group_by_recipe(runs));
  REQUIRE(panels.size() == 2);
  CHECK(panels[1].title == "Validation accuracy (%)");
  CHECK(panels[1].curves.size() == 1);
  a.foreign_recipe = "theirs";  // what another program measured on the way is what it says
  CHECK(title_on_the_way(a) == "Test accuracy (%)");
}
