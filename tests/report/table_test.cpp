#include <lessons/lab/report/table.h>
#include <tests/catch.h>
#include <tests/report/sample_runs.h>
#include <cmath>

using namespace tinymp::report;

namespace {

constexpr TerminalStyle wide{.unicode = true, .colour = false, .width = 120};
constexpr TerminalStyle ascii{.unicode = false, .colour = false, .width = 80};

std::string cell(const Table& table, const std::string& column, std::size_t row) {
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (table.header[i] == column) return table.rows[row][i];
  }
  return "no such column";
}

/// One run of one step, to be changed by the test.
Run small_run(const std::string& name, double value) {
  Run run;
  run.header.name = name;
  run.header.metric = "test accuracy (%)";
  run.steps.push_back({.step = 1, .loss = 1});
  run.result = tinymp::train::RunResult{.value = value, .taken = 1, .seconds = 2};
  return run;
}

}  // namespace

TEST_CASE("a table is aligned by what is seen, not by bytes") {
  const Table table{{"run", "value", "state"},
                    {Align::left, Align::right, Align::left},
                    {{"FP32", "1", "done"}, {"größer ≥ ²", "12.5", ""}, {"日本", "-3", "NaN"}}};
  CHECK(format_table(table, wide) ==
        "run         value  state\n"
        "──────────  ─────  ─────\n"
        "FP32            1  done\n"
        "größer ≥ ²   12.5\n"
        "日本           -3  NaN\n");
  CHECK(format_table(table, ascii) ==
        "run          value  state\n"
        "-----------  -----  -----\n"
        "FP32             1  done\n"
        "gr??er ? ^2   12.5\n"
        "??              -3  NaN\n");
}

TEST_CASE("a table too wide for the terminal wraps its text columns, never its numbers") {
  const Table table{{"run", "value", "state"},
                    {Align::left, Align::right, Align::left},
                    {{"a rather long name of a run", "123456789", "NaN at step 12"}}};
  CHECK(format_table(table, {.unicode = true, .colour = false, .width = 40}) ==
        "run                value  state\n"
        "─────────────  ─────────  ──────────────\n"
        "a rather long  123456789  NaN at step 12\n"
        "name of a run\n");
  CHECK(format_table(table, {.unicode = true, .colour = false, .width = 10}) ==
        "run           value  state\n"
        "────────  ─────────  ────────\n"
        "a rather  123456789  NaN at\n"
        "long                 step 12\n"
        "name of\n"
        "a run\n");
}

TEST_CASE("a name keeps a third of the line, and columns move together before the table is too wide") {
  const Table table{{"name", "recipe", "final S"},
                    {Align::left, Align::left, Align::right},
                    {{"quickstart-001/fp16", "fp16_dynamic", "65536..131072"}}};
  CHECK(format_table(table, {.unicode = false, .colour = false, .width = 44}) ==
        "name             recipe              final S\n"
        "---------------  ------------  -------------\n"
        "quickstart-001/  fp16_dynamic  65536..131072\n"
        "fp16\n");
  CHECK(format_table(table, {.unicode = false, .colour = false, .width = 36}) ==
        "name         recipe         final S\n"
        "------------ -------- -------------\n"
        "quickstart-  fp16_    65536..131072\n"
        "001/fp16     dynamic\n");
}

TEST_CASE("a name cannot move the cursor of the terminal") {
  const Table table{{"run"}, {}, {{"\x1b[2Jboo\r\n\t\xC2\x9B\xE2\x80\xAE\xFF"}}};
  CHECK(format_table(table, wide) == "run\n─────────────\n?[2Jboo??????\n");
}

TEST_CASE("the table of a section: seeds, skips, NaN, columns that have something to say") {
  CHECK(format_table(runs_table(sample::small_gradients().runs), wide) ==
        "run                            test MSE  flushed  skips  final S  time  state\n"
        "──────────────  ───────────────────────  ───────  ─────  ───────  ────  ──────────────\n"
        "FP32            0.0424 (0.0420..0.0428)        -      0        1  10 s  done\n"
        "FP16, S = 1     0.0742 (0.0735..0.0750)     95 %      0        1  10 s  done\n"
        "FP16, S = 1024  0.0425 (0.0421..0.0429)    3.9 %      0     1024  10 s  done\n"
        "FP16, dynamic   0.0423 (0.0419..0.0427)    1.0 %      7    32768  10 s  done\n"
        "FP16, S = 2^28                      NaN      0 %      0     2^28  10 s  NaN at step 12\n");
  CHECK(format_table(runs_table(sample::small_updates().runs), wide) ==
        "run                             test MSE   lost  time  state\n"
        "──────────────────  ────────────────────  ─────  ────  ─────\n"
        "FP32                0.626 (0.620..0.632)  1.8 %  10 s  done\n"
        "FP16 weights           1.73 (1.71..1.74)   76 %  10 s  done\n"
        "FP16 + FP32 master  0.627 (0.621..0.633)  1.8 %  10 s  done\n");
}

TEST_CASE("what happened to some of the seeds is said of some") {
  std::vector<Run> runs(4, small_run("FP16", 93.876));
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].header.seed = i;
  runs[1].result->value = 94.024;
  CHECK(cell(runs_table(runs), "test accuracy (%)", 0) == "93.91 (93.88..94.02)");
  CHECK(cell(runs_table(runs), "state", 0) == "done");

  runs[1].result->first_nonfinite_step = 12;
  runs[2].result->first_nonfinite_step = 40;
  runs[2].result->value = std::nan("");
  runs[2].result->skipped = 3;
  runs[3].result.reset();
  runs[3].steps.push_back({.step = 80, .loss = 1, .scale = 0x1p-10, .skips = 5});
  const Table table = runs_table(runs);
  REQUIRE(table.rows.size() == 1);
  CHECK(cell(table, "test accuracy (%)", 0) == "NaN (93.88..NaN)");
  std::swap(runs[0].result->value, runs[2].result->value);  // the order of the seeds must not matter
  CHECK(cell(runs_table(runs), "test accuracy (%)", 0) == "NaN (93.88..NaN)");
  CHECK(cell(table, "state", 0) == "2 of 4 NaN at step 12..40, 1 of 4 interrupted at step 80");
  CHECK(cell(table, "skips", 0) == "0..5");
  CHECK(cell(table, "final S", 0) == "2^-10..1");
  CHECK(cell(table, "time", 0) == "2.0 s");
}

TEST_CASE("a step 0, as tables of other programs have it, can be the one that is NaN") {
  Run run = small_run("table.csv", 0);
  run.steps = {{.step = 0, .loss = std::nan("")}, {.step = 1, .loss = std::nan("")}};
  run.result->first_nonfinite_step = 0;
  CHECK(cell(runs_table(std::vector<Run>{run}), "state", 0) == "NaN at step 0");
  run.result->first_nonfinite_step = 1;
  CHECK(cell(runs_table(std::vector<Run>{run}), "state", 0) == "NaN at step 0");
}

TEST_CASE("an interrupted run has no result, its last NaN is seen all the same") {
  Run run = small_run("FP16", 0);
  run.result.reset();
  run.steps.push_back({.step = 7, .loss = std::nan("")});
  const Table table = runs_table(std::vector<Run>{run});
  CHECK(cell(table, "test accuracy (%)", 0) == "-");
  CHECK(cell(table, "state", 0) == "NaN at step 7, interrupted at step 7");
}

TEST_CASE("samples a second stand in a table where several processes shared a run") {
  Run alone = small_run("FP32", 90);
  alone.header.batch = 10;
  alone.result->taken = 90;
  alone.result->skipped = 10;
  Run shared = alone;
  shared.header.micro_batches = 4;
  shared.header.ranks = 4;
  const std::vector<Run> runs = {alone, shared};
  CHECK(cell(runs_table(runs), "samples/s", 0) == "500");
  CHECK(cell(runs_table(runs), "samples/s", 1) == "2000");
  const Table table = runs_table(std::span(runs).first(1));
  CHECK(std::ranges::find(table.header, "samples/s") == table.header.end());
  // Ranks alone tell two runs apart; the older log has none.
  Run older = shared;
  older.header.ranks = 1;
  shared.header.wire = "f16, divided first";
  const std::vector<Group> groups = group_by_recipe(std::vector<Run>{older, shared});
  REQUIRE(groups.size() == 2);
  CHECK(groups[1].name == "FP32 (wire f16, divided first)");
  shared.header.wire = "";
  CHECK(group_by_recipe(std::vector<Run>{older, shared})[0].name == "FP32 (1 rank)");
  CHECK(group_by_recipe(std::vector<Run>{older, shared})[1].name == "FP32 (4 ranks)");
}

TEST_CASE("runs of one name that differ in more than the seed are not averaged") {
  std::vector<Run> runs(4, small_run("FP16", 90));
  runs[1].header.seed = 1;
  runs[2].header.optimizer = "adam lr=0.01";
  runs[3].header.optimizer = "adam lr=0.1";
  const Table table = runs_table(runs);
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0][0] == "FP16");
  CHECK(table.rows[1][0] == "FP16 (adam lr=0.01)");
  CHECK(table.rows[2][0] == "FP16 (adam lr=0.1)");

  std::vector<Run> recipes(2, small_run("mine", 90));
  recipes[1].header.recipe = tinymp::recipes::fp16_dynamic;
  CHECK(runs_table(recipes).rows[1][0] == "mine (" + describe(tinymp::recipes::fp16_dynamic) + ")");
  recipes[1].header.recipe = recipes[0].header.recipe;
  recipes[1].header.recipe.scaling = tinymp::DynamicScaling{.growth_interval = 7};
  recipes[0].header.recipe.scaling = tinymp::DynamicScaling{.growth_interval = 8};
  CHECK(runs_table(recipes).rows.size() == 2);
  CHECK(runs_table({}).rows.empty());
}
