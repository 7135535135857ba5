#include <lessons/lab/report/comparison.h>
#include <lessons/lab/report/csv.h>
#include <lessons/lab/report/run_fields.h>
#include <tests/catch.h>
#include <tests/report/sample_runs.h>
#include <tinymp/base/error.h>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace tinymp;
using namespace tinymp::report;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
const double no_number = std::numeric_limits<double>::quiet_NaN();

Run run_of(const std::string& name, const Recipe& recipe, std::uint64_t seed, double value) {
  Run run;
  run.path = "runs/x-001/" + name + "-seed" + std::to_string(seed) + ".jsonl";
  run.header = {.lesson = "train", .question = "Q", .name = name, .recipe = recipe, .seed = seed};
  run.header.model = "mlp 784-64-10";
  run.header.data = "mnist (55000 train, 5000 validation, 10000 test)";
  run.header.optimizer = "sgd lr=0.1";
  run.header.metric = "test accuracy (%)";
  run.header.higher_is_better = true;
  run.steps = {{.step = 1, .loss = 2}, {.step = 2, .loss = value / 100}, {.step = 3, .loss = value / 50}};
  run.result = train::RunResult{.value = value, .taken = 3, .skipped = 1, .seconds = 2.5};
  return run;
}

std::vector<Run> two_recipes(const std::vector<double>& first, const std::vector<double>& second) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < first.size(); ++i) runs.push_back(run_of("FP32", recipes::fp32, i, first[i]));
  for (std::size_t i = 0; i < second.size(); ++i)
    runs.push_back(run_of("FP16", recipes::fp16_dynamic, i, second[i]));
  return runs;
}

Comparison compared(const std::vector<Run>& runs, const RunsView& view) {
  return compare_groups(groups_of(runs, view), view);
}

std::vector<std::vector<std::string>> rows_of(const std::string& csv) {
  std::istringstream in(csv);
  CsvReader reader(in, "out.csv");
  std::vector<std::vector<std::string>> rows;
  for (std::vector<std::string> fields; reader.next(fields);) rows.push_back(fields);
  return rows;
}

}  // namespace

// "Student" (W. S. Gosset), "The probable error of a mean", Biometrika 6 (1908): the hours of sleep that two drugs gave
// ten patients. R: t.test(dextro, laevo, paired = TRUE) gives -1.58, -2.4598858 .. -0.7001142.
TEST_CASE("a paired difference and its interval: the data of Student's own paper") {
  const std::vector<double> dextro = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0},
                            laevo = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
  const Comparison found = compared(two_recipes(laevo, dextro), {.against = "FP32"});
  REQUIRE(found.groups.size() == 2);
  CHECK(found.groups[0].is_baseline);
  CHECK_FALSE(found.groups[0].difference);
  REQUIRE(found.groups[1].difference);
  const Difference& difference = *found.groups[1].difference;
  CHECK(difference.pairs == 10);
  CHECK(std::abs(difference.mean + 1.58) < 1e-12);
  CHECK(std::abs(*difference.low + 2.4598858) < 5e-8);
  CHECK(std::abs(*difference.high + 0.7001142) < 5e-8);
}

TEST_CASE("one pair has no interval, equal differences have one without width, NaN stays NaN") {
  const std::vector<double> one = {0.5}, same = {0.25, 0.25, 0.25}, bad = {1, no_number},
                            far = {1e308, 1e308};
  CHECK(difference_of(one).mean == 0.5);
  CHECK_FALSE(difference_of(one).low);
  CHECK(difference_of(same).low == 0.25);
  CHECK(difference_of(same).high == 0.25);
  CHECK(std::isnan(difference_of(bad).mean));
  CHECK(std::isnan(*difference_of(bad).low));
  CHECK(difference_of(far).mean == 1e308);
  REQUIRE_THROWS_AS(difference_of({}), Error);
}

TEST_CASE("runs pair by their seeds, and where several share one by what else they share") {
  // Seeds 0 and 2 of FP16; FP32 has 0, 1, 2.
  std::vector<Run> runs = two_recipes({90, 91, 92}, {80, 85, 80});
  runs.erase(runs.begin() + 4);
  CHECK(compared(runs, {.against = "FP32"}).groups[1].difference->pairs == 2);
  CHECK(compared(runs, {.against = "FP32"}).groups[1].difference->mean == -11);

  // Two learning rates with the same seeds: each run pairs with the baseline's of its own rate.
  std::vector<Run> both;
  for (const char* const lr : {"sgd lr=0.1", "sgd lr=1"}) {
    for (Run& run : two_recipes({90, 91}, {80, 81})) {
      run.header.optimizer = lr;
      if (run.header.optimizer == "sgd lr=1") run.result->value *= 10;
      both.push_back(run);
    }
  }
  std::swap(both[0], both[4]);
  const Comparison by_recipe = compared(both, {.by = "recipe", .against = "fp32"});
  CHECK(by_recipe.groups[1].difference->pairs == 4);
  CHECK(by_recipe.groups[1].difference->mean == (-10 - 10 - 100 - 100) / 4.0);
  CHECK(by_recipe.groups[1].lr == "0.1 1");
  // The mean is the same however they pair; the interval is not.
  const std::vector<double> right = {-10, -10, -100, -100};
  CHECK(std::abs(*by_recipe.groups[1].difference->low - *difference_of(right).low) < 1e-9);

  // A run of the baseline is the partner of one run.
  std::vector<Run> twice = two_recipes({90}, {80, 70});
  twice[2].header.seed = 0;
  CHECK(compared(twice, {.against = "FP32"}).groups[1].difference->pairs == 1);

  for (Run& run : runs) run.has_seed = false;
  CHECK_FALSE(compared(runs, {.against = "FP32"}).groups[1].difference);
  runs = two_recipes({90}, {80});
  runs[1].result.reset();
  CHECK_FALSE(compared(runs, {.against = "FP32"}).groups[1].difference);
}

TEST_CASE("a run that is repeated with its seed and its result is no further pair") {
  std::vector<Run> runs = two_recipes({90, 92}, {89, 90});
  for (int i = 0; i < 2; ++i) {
    runs.push_back(run_of("FP32", recipes::fp32, 0, 90));
    runs.push_back(run_of("FP16", recipes::fp16_dynamic, 0, 89));
  }
  const Comparison found = compared(runs, {.against = "FP32"});
  CHECK(found.repeats == 4);
  REQUIRE(found.groups[1].difference);
  CHECK(found.groups[1].difference->pairs == 2);
  CHECK(found.groups[1].difference->mean == -1.5);
  CHECK_THAT(comparison_note(found), Catch::Matchers::Contains("no further pair: 4 left out"));
  runs.push_back(run_of("FP16", recipes::fp16_dynamic, 1, 91));  // another result: on a GPU, say
  CHECK(compared(runs, {.against = "FP32"}).repeats == 4);
}

TEST_CASE("the bound of an interval shows on which side of 0 it lies") {
  std::vector<Run> runs = two_recipes({90, 90, 90}, {89.2, 89.5, 89.8});
  const Comparison found = compared(runs, {.against = "FP32"});
  CHECK(*found.groups[1].difference->high > 0.2);
  Comparison close = found;
  close.groups[1].difference->low = -1.0044;
  close.groups[1].difference->high = 0.0044;
  CHECK(comparison_table(close).rows[1][3] == "-1.004..+0.004");
}

TEST_CASE("a baseline is a group, a run, a recipe or a condition") {
  const std::vector<Run> runs = two_recipes({90, 91}, {80, 81});
  for (const char* const name : {"FP32", "fp32", "recipe=fp32", "o0"})
    CHECK(compared(runs, {.against = name}).groups[1].difference->mean == -10);
  const Comparison one = compared(runs, {.against = "x-001/FP32-seed1"});
  CHECK(one.groups[1].difference->pairs == 1);
  const std::vector<std::vector<Group>> groups = {groups_of(runs, {})};
  CHECK_NOTHROW(expect_baseline(groups, {.against = "seed=1"}));
  for (const char* const name : {"FP8", "seed=9", "nonsense=1", "FP16, S = 1"}) {
    REQUIRE_THROWS_AS(expect_baseline(groups, {.against = name}), UsageError);
    REQUIRE_THROWS_WITH(expect_baseline(groups, {.against = name}),
                        Catch::Matchers::Contains("there are FP32; FP16"));
  }
}

TEST_CASE("a baseline of several groups is not compared with itself, and each group with the likest") {
  std::vector<Run> runs = two_recipes({90, 91}, {80, 81});
  for (Run run : two_recipes({60, 61}, {55, 57})) {
    run.header.optimizer = "sgd lr=0.5";
    runs.push_back(run);
  }
  const Comparison found = compared(runs, {.against = "recipe=fp32"});
  REQUIRE(found.groups.size() == 4);
  CHECK(found.baseline == "recipe=fp32");
  for (const std::size_t i : {0u, 2u}) {
    CHECK(found.groups[i].is_baseline);
    CHECK_FALSE(found.groups[i].difference);
  }
  CHECK(found.groups[1].difference->mean == -10);
  CHECK(found.groups[3].difference->mean == -4.5);
}

TEST_CASE("final and best, of the metric or of the loss") {
  std::vector<Run> runs = two_recipes({90, 92}, {80, 80});
  const Comparison metric = compared(runs, {});
  CHECK(metric.measure == "test accuracy (%)");
  CHECK(metric.groups[0].final == 91.0);
  CHECK(metric.groups[0].smallest == 90.0);
  CHECK(metric.groups[0].largest == 92.0);
  CHECK_FALSE(metric.groups[0].best);  // measured at the end alone
  const Comparison loss = compared(runs, {.metric = "loss"});
  CHECK(loss.measure == "training loss");
  CHECK(loss.groups[0].final == (1.8 + 1.84) / 2);
  CHECK(loss.groups[0].best == (0.9 + 0.92) / 2);
  CHECK(comparison_note(metric).empty());
  CHECK(comparison_note(loss) == "best: the smallest training loss on the way.");
  // On the way the metric is of the validation data: the result, which is of the test set, is no part of the best.
  runs[0].steps[0].metric = 85;
  CHECK_FALSE(compared(runs, {}).groups[0].best);  // one value
  runs[0].steps[1].metric = 87;
  const Comparison validated = compared(runs, {.against = "FP32"});
  CHECK(validated.groups[0].best == 87.0);
  CHECK(validated.groups[0].final == 91.0);
  CHECK(comparison_note(validated).find(
            "measures on the validation data; final: at the end, on the test set. diff:") !=
        std::string::npos);
  runs[0].header.higher_is_better = false;
  CHECK(compared(runs, {}).groups[0].best == 85.0);
  runs[0].header.metric = "validation loss";  // a text has no test set
  CHECK(
      comparison_note(compared({runs[0]}, {}))
          .ends_with(" on the first 8,192 tokens of the validation text; final: at the end, on all of it."));
  CHECK(comparison_note(compared(runs, {}))
            .ends_with("on the test set, and of a text on all of its validation data."));
  CHECK(metric.groups[0].seeds == "0 1");
  CHECK(metric.groups[0].skips == 1.0);
  CHECK(metric.groups[0].seconds == 2.5);
  CHECK_FALSE(metric.groups[0].peak_bytes);
  CHECK_FALSE(metric.groups[0].lost);
}

TEST_CASE("a baseline is named with or without the mark of a learner's pieces") {
  std::vector<Run> runs = two_recipes({90, 91}, {80, 81});
  for (Run& run : runs)
    run.header.name = (run.header.name == "FP32" ? "batch 32" : "batch 2") + std::string(" (YOURS: half)");
  for (const char* const name : {"batch 32", "Batch 32 (yours: half)"}) {
    const RunsView view{.against = name};
    const std::vector<std::vector<Group>> questions{groups_of(runs, view)};
    CHECK_NOTHROW(expect_baseline(questions, view));
    CHECK(compared(runs, view).groups[1].difference.value().mean == -10);
  }
}

TEST_CASE("the table of a comparison fits 80 columns") {
  std::vector<Run> runs = two_recipes({90.25, 92.5, 91}, {80.25, 79.5, 81});
  for (Run& run : runs) run.header.name += " with FP32 masters and a dynamic scale";
  const Comparison found = compared(runs, {.against = runs[0].header.name});
  const std::string text =
      report::format_table(comparison_table(found), {.unicode = true, .colour = false, .width = 80});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(display_width(line) <= 80);
  CHECK(text.find("baseline") != std::string::npos);
  CHECK(text.find("-11 .. ") == std::string::npos);
  CHECK(text.find("95 % interval") != std::string::npos);
}

TEST_CASE("the export has its columns, empty where unknown, and reads back to the last bit") {
  std::vector<Run> runs = two_recipes({90.1, 1.0 / 3}, {80, no_number});
  runs.push_back(run_of("a \"b\", c\r\n=1+1", recipes::fp16_static, 5, 1e308));
  runs.push_back(run_of("cut", recipes::fp16_weights, 6, 0));
  runs.back().result.reset();
  const std::vector<Comparison> found = {compared(runs, {.against = "FP32"})};
  const auto rows = rows_of(comparison_csv(found));
  REQUIRE(rows.size() == 5);
  CHECK(rows[0] == std::vector<std::string>{"run", "recipe", "model", "data", "seed", "lr", "final", "best",
                                            "diff", "low", "high", "skips", "lost", "flushed", "seconds",
                                            "peak_bytes"});
  CHECK(comparison_csv(found).starts_with(
      "run,recipe,model,data,seed,lr,final,best,diff,low,high,skips,lost,flushed,seconds,peak_bytes\r\n"));
  CHECK(rows[1][0] == "FP32");
  CHECK(rows[1][1] == "fp32");
  CHECK(rows[1][4] == "0 1");
  CHECK(rows[1][5] == "0.1");
  CHECK(std::stod(rows[1][6]) == (90.1 + 1.0 / 3) / 2);
  for (const std::size_t empty : {7u, 8u, 9u, 10u, 12u, 13u, 15u}) CHECK(rows[1][empty].empty());
  CHECK(rows[2][6] == "nan");
  CHECK(rows[2][8] == "nan");
  CHECK(rows[3][0] == "a \"b\", c\r\n=1+1");
  CHECK(std::stod(rows[3][6]) == 1e308);
  CHECK(rows[4][6].empty());

  const auto json = nlohmann::json::parse(comparison_json(found));
  REQUIRE(json.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(json[i].size() == rows[0].size() + 1);  // and "memory"
    for (std::size_t column = 0; column < rows[0].size(); ++column) {
      const auto& value = json[i].at(rows[0][column]);
      const std::string& cell = rows[i + 1][column];
      if (value.is_null())
        CHECK(cell.empty());
      else if (value.is_number())
        CHECK(value.get<double>() == std::stod(cell));
      else
        CHECK(value.get<std::string>() == cell);
    }
  }
}

TEST_CASE("hostile names and values stay text in the table and the export") {
  std::vector<Run> runs;
  const std::vector<std::string> names = {
      "</script><b>", "\x1b[2J\x07", "\xE2\x80\xAEtxt.exe\xE2\x81\xA6",        "\"quoted\", with",
      "a\r\nb",       "\xFF\xFE",    "=HYPERLINK(\"http://example.invalid\")", "__proto__"};
  const std::vector<double> values = {infinity, -infinity, no_number, 1e308, -1e308, 5e-324, 0, -0.0};
  for (std::size_t i = 0; i < names.size(); ++i)
    for (const std::uint64_t seed : {0u, 1u})
      runs.push_back(run_of(names[i], recipes::fp32, seed, values[i]));
  const Comparison found = compared(runs, {.against = names[3]});
  for (const bool unicode : {true, false}) {
    const std::string text =
        report::format_table(comparison_table(found), {.unicode = unicode, .colour = false, .width = 80});
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find("\xE2\x80\xAE") == std::string::npos);
    CHECK(text.find('\r') == std::string::npos);
  }
  const std::vector<Comparison> all = {found};
  const auto rows = rows_of(comparison_csv(all));
  REQUIRE(rows.size() == names.size() + 1);
  for (std::size_t i = 0; i < names.size(); ++i) CHECK(rows[i + 1][0] == names[i]);
  CHECK(nlohmann::json::parse(comparison_json(all)).size() == names.size());
}

TEST_CASE("what rounding leaves of equal values is no difference") {
  const std::vector<Run> runs = two_recipes({78.6, 81.3}, {78.6 + 1.5e-14, 81.3 + 1.5e-14});
  const Table table = comparison_table(compared(runs, {.against = "FP32"}));
  CHECK(table.rows[1][2] == "0");
  CHECK(table.rows[1][3] == "0..0");
  const std::vector<Run> apart = two_recipes({78.6, 81.3}, {78.6 + 1e-9, 81.3 + 1e-9});
  CHECK(comparison_table(compared(apart, {.against = "FP32"})).rows[1][2] == "+1e-09");
}

TEST_CASE("a group of runs that differ in more than the seed says so") {
  std::vector<Run> runs = two_recipes({90, 91}, {80, 81});
  CHECK(comparison_note(compared(runs, {.against = "FP32"})).find("mixes") == std::string::npos);
  runs[1].header.optimizer = "sgd lr=0.5";
  runs[1].header.steps = 7;
  runs[1].header.micro_batches = 2;
  runs[1].header.recompute = "blocks";
  const Comparison found = compared(runs, {.by = "recipe", .against = "fp32"});
  CHECK(found.groups[0].mixed == "optimizer, steps, micro_batches, recompute");
  CHECK(found.groups[1].mixed.empty());
  CHECK_THAT(
      comparison_note(found),
      Catch::Matchers::Contains(
          "fp32 mixes runs that differ in more than the seed: optimizer, steps, micro_batches, recompute."));
}
