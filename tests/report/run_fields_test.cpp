#include <lessons/lab/report/run_fields.h>
#include <tests/catch.h>
#include <tests/report/sample_runs.h>
#include <tinymp/base/error.h>

using namespace tinymp;
using namespace tinymp::report;

namespace {

std::vector<Run> some_runs() {
  std::vector<Run> runs = sample::small_gradients().runs;
  for (Run& run : runs)
    run.header.optimizer = run.header.seed == 2 ? "adam lr=0.01" : "sgd lr=1e-3 momentum=0.9";
  return runs;
}

std::size_t left(const std::string& where) { return select(some_runs(), conditions_from(where)).size(); }

}  // namespace

TEST_CASE("runs are selected by any field of their header") {
  CHECK(left("recipe=fp32") == 3);
  CHECK(left("recipe=o0") == 3);
  CHECK(left("recipe=FP32") == 3);
  CHECK(left("recipe=FP16, S = 1024") == 3);  // the name of a curve, with a comma in it
  CHECK(left("recipe=fp16_master,seed=0") == 1);
  CHECK(left("name=FP16, S = 1") == 3);
  CHECK(left("model=autoencoder") == 15);
  CHECK(left("model=AUTOENCODER 784") == 15);
  CHECK(left("data=fashion") == 15);
  CHECK(left("seed=0") == 5);
  CHECK(left("seed=0,seed=2") == 10);
  CHECK(left("lr=0.001") == 10);
  CHECK(left("lr=1e-2,seed=2") == 5);
  CHECK(left("lesson=quick") == 15);
  CHECK(left("question=Do small gradients") == 15);
  CHECK(left("device=AMD,commit=44ca,compute=f16") == 12);
  CHECK(left("scaling=dynamic") == 3);
  CHECK(left("run=quickstart-001/1") == 5);
  CHECK(left("batch=2048") == 15);
}

TEST_CASE("a field that is not there and a value that no run has: the message says what there is") {
  REQUIRE_THROWS_AS(conditions_from("recpe=fp32"), UsageError);
  REQUIRE_THROWS_WITH(conditions_from("recpe=fp32"),
                      Catch::Matchers::Contains("no field 'recpe'; there are run, name, recipe"));
  for (const char* const text : {"", "recipe", "recipe=fp32,", "=", "recipe=fp32,seed"})
    REQUIRE_THROWS_AS(conditions_from(text), UsageError);
  REQUIRE_THROWS_AS(left("seed=7"), UsageError);
  REQUIRE_THROWS_WITH(left("seed=7"), Catch::Matchers::Contains(
                                          "none of 15 runs has seed=7; seed is 0 (5 runs), 1 (5 runs)"));
  REQUIRE_THROWS_WITH(left("recipe=fp32,scaling=dynamic"),
                      Catch::Matchers::Contains("scaling is none (6 runs)"));
  CHECK(select({}, conditions_from("seed=7")).empty());
}

TEST_CASE("groups by a field: numbers go up, names stand as they come") {
  const std::vector<Run> runs = some_runs();
  const auto names = [&](const std::string& field) {
    std::string all;
    for (const Group& group : group_by_field(runs, field))
      all += group.name + concat(" x", group.runs.size(), "; ");
    return all;
  };
  CHECK(names("seed") == "seed 0 x5; seed 1 x5; seed 2 x5; ");
  CHECK(names("lr") == "lr 1e-3 x10; lr 0.01 x5; ");
  CHECK(names("recipe").starts_with("fp32 x3; fp16_master x3; fp16_static x3; "));
  CHECK(names("run").starts_with("quickstart-001/0 x5; "));
  CHECK(names("pieces") == "unknown x15; ");
  REQUIRE_THROWS_AS(group_by_field(runs, "colour"), UsageError);
}

TEST_CASE("two folders of one name are two runs") {
  std::vector<Run> runs(3);
  runs[0].path = "a/train-001/fp32-seed0.jsonl";
  runs[1].path = "b/train-001/fp32-seed0.jsonl";
  runs[2].path = "b/train-002/fp32-seed0.jsonl";
  const std::vector<Group> groups = group_by_field(runs, "run");
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].name == "a/train-001/fp32-seed0");
  CHECK(groups[1].name == "b/train-001/fp32-seed0");
  CHECK(groups[2].name == "train-002/fp32-seed0");
}

TEST_CASE("a run is named by its folder and its file") {
  Run run;
  for (const auto& [path, name] :
       {std::pair<std::string, std::string>{"runs/train-001/fp32-seed0.jsonl", "train-001/fp32-seed0"},
        {"fp32.jsonl", "fp32"},
        {"./fp32.jsonl", "fp32"},
        {"/a/b/table.csv#one", "b/table.csv#one"},
        {"", ""}}) {
    run.path = path;
    CHECK(run_name(run) == name);
  }
}
