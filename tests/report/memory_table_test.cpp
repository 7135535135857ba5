#include <lessons/lab/report/comparison.h>
#include <lessons/lab/report/memory_table.h>
#include <lessons/lab/report/section.h>
#include <tests/catch.h>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace tinymp;
using namespace tinymp::report;

namespace {

using train::MemoryBytes;

constexpr MemoryBytes wide{.weights = 400'000,
                           .optimizer = 800'000,
                           .gradients = 400'000,
                           .activations = 2'000'000,
                           .workspace = 50'000};
constexpr MemoryBytes narrow{.weights = 200'000,
                             .masters = 400'000,
                             .optimizer = 800'000,
                             .gradients = 200'000,
                             .activations = 1'010'000,
                             .workspace = 80'000,
                             .scratch = 10'000};

Run run_of(const std::string& name, const Recipe& recipe, const MemoryBytes& memory, std::int64_t peak) {
  Run run;
  run.header = {.lesson = "train", .question = "Q", .name = name, .recipe = recipe, .seed = 1};
  run.header.model = "mlp 784-128-10";
  run.header.optimizer = "adam lr=0.001";
  run.header.batch = 64;
  run.steps = {{.step = 1, .loss = 2}};
  run.result = train::RunResult{.value = 1, .taken = 1, .peak_bytes = peak, .memory = memory};
  return run;
}

std::vector<Run> two_runs() {
  return {run_of("FP32", recipes::fp32, wide, 3'600'000),
          run_of("FP16, dynamic", recipes::fp16_dynamic, narrow, 2'650'000)};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("memory table: a row a group, in one unit, within 80 columns") {
  const std::vector<Run> runs = two_runs();
  const std::vector<Group> groups = group_by_recipe(runs);
  const Table table = memory_table(groups);
  CHECK(table.header == std::vector<std::string>{"run", "weights", "masters", "optimizer", "gradients",
                                                 "activations", "workspace", "peak"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0] ==
        std::vector<std::string>{"FP32", "0.400", "-", "0.800", "0.400", "2.00", "0.0500", "3.60"});
  CHECK(table.rows[1] == std::vector<std::string>{"FP16, dynamic", "0.200", "0.400", "0.800", "0.200", "1.01",
                                                  "0.0900", "2.65"});
  std::istringstream lines(report::format_table(table, {.unicode = false, .colour = false, .width = 80}));
  for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80);
}

TEST_CASE("memory table: the note says from the figures whether the state shrank") {
  std::vector<Run> runs = two_runs();
  runs.push_back(run_of("FP16, S = 8", recipes::fp16_static, narrow, 2'650'000));
  runs[2].header.optimizer = "adam lr=0.1";
  MemoryBytes no_master = narrow;
  no_master.masters = 0;
  runs.push_back(run_of("FP16 weights", recipes::fp16_weights, no_master, 2'250'000));
  const std::string note = memory_note(group_by_recipe(runs));
  CHECK(note.starts_with("In MB, measured in the steps"));
  CHECK(has(
      note,
      "FP16, dynamic; FP16, S = 8: the state (weights, masters, optimizer, gradients) takes as many bytes as "
      "FP32's, so it does not shrink; the activations take 0.505 times the bytes of FP32's, and the peak "
      "is 0.736 times FP32's."));
  CHECK(has(note,
            "FP16 weights: the state (weights, masters, optimizer, gradients) takes 0.75 times the bytes of "
            "FP32's; the activations"));
  CHECK_FALSE(has(note, "FP32: the state"));
}

TEST_CASE("memory table: only what is alike is compared, and only with FP32") {
  std::vector<Run> runs = two_runs();
  runs[1].header.batch = 128;
  CHECK_FALSE(has(memory_note(group_by_recipe(runs)), "state"));
  runs = two_runs();
  runs[0].header.model = "lenet";
  CHECK_FALSE(has(memory_note(group_by_recipe(runs)), "state"));
  runs.erase(runs.begin());
  CHECK(has(memory_note(group_by_recipe(runs)), "In MB"));
  CHECK_FALSE(has(memory_note(group_by_recipe(runs)), "state"));
}

TEST_CASE("memory table: recomputation and micro-batches stand beside the run without them") {
  std::vector<Run> runs = two_runs();
  MemoryBytes less = wide;
  less.activations = 500'000;
  runs.push_back(run_of("FP32", recipes::fp32, less, 2'160'000));
  runs[2].header.recompute = "blocks";
  less.activations = 250'000;
  runs.push_back(run_of("FP32", recipes::fp32, less, 1'800'000));
  runs[3].header.batch = 8;
  runs[3].header.micro_batches = 8;
  runs.push_back(runs[3]);
  runs[4].header.recompute = "blocks";
  const std::vector<Group> groups = group_by_recipe(runs);
  REQUIRE(groups.size() == 5);  // none of them is a seed of another
  CHECK(groups[0].name == "FP32 (batch 64)");
  CHECK(groups[2].name == "FP32 (batch 64, recompute blocks)");
  CHECK(groups[3].name == "FP32 (batch 8 x 8)");
  CHECK(groups[4].name == "FP32 (batch 8 x 8, recompute blocks)");
  const Table table = memory_table(groups);
  CHECK(table.rows[0][5] == "2.00");
  CHECK(table.rows[2][5] == "0.500");
  CHECK(table.rows[3][5] == "0.250");
  const std::string note = memory_note(groups);
  const std::string recomputed = concat(" ", groups[2].name,
                                        ": recomputed, the activations take 0.25 times the bytes of those "
                                        "without, and the peak is 0.6 times as "
                                        "large."),
                    in_parts = concat(
                        " ", groups[3].name,
                        ": in 8 micro-batches the activations take 0.125 times the bytes of those in one "
                        "batch, and the peak is 0.5 times as large.");
  CHECK(has(note, recomputed));
  CHECK(has(note, in_parts));
  // A second run like the whole batch adds nothing.
  std::vector<Run> more = runs;
  more.push_back(runs[0]);
  more.back().header.name = "FP32 once more";
  CHECK(has(memory_note(group_by_recipe(more)), " FP32 (batch 64, recompute blocks): recomputed,"));
  // Both at once differ from one batch in two things, and from the whole batch recomputed in one.
  CHECK(has(note,
            concat(" ", groups[4].name, ": in 8 micro-batches the activations take 0.5 times the bytes")));
  CHECK_FALSE(has(note, concat(groups[4].name, ": in 8 micro-batches the activations take 0.125")));
  // FP16 is compared with the FP32 run that neither recomputes nor accumulates.
  CHECK(has(note, "FP16, dynamic: the state (weights, masters, optimizer, gradients) takes as many bytes"));
  CHECK(
      has(note, "the activations take 0.505 times the bytes of FP32's, and the peak is 0.736 times FP32's."));
}

TEST_CASE("memory table: the mean over the seeds that measured it, nothing where none did") {
  std::vector<Run> runs = two_runs();
  runs.erase(runs.begin());
  runs.push_back(runs[0]);
  runs[1].header.seed = 2;
  runs[1].result->peak_bytes = 2'650'002;
  runs.push_back(runs[0]);
  runs[2].header.seed = 3;
  runs[2].result.reset();
  runs.push_back(runs[0]);
  runs[3].header.seed = 4;
  runs[3].result->memory = {};
  const std::vector<Group> groups = group_by_recipe(runs);
  REQUIRE(groups.size() == 1);
  CHECK(memory_of(groups[0])->peak == 2'650'001);
  CHECK(memory_of(groups[0])->state() == 1'600'000);

  const std::vector<Run> none(runs.begin() + 2, runs.end());
  CHECK(memory_table(group_by_recipe(none)).rows.empty());
  CHECK(memory_note(group_by_recipe(none)).empty());
  CHECK(memory_line(*none[1].result).empty());
}

TEST_CASE("memory table: the line after a training leaves out what it did not need") {
  const std::vector<Run> runs = two_runs();
  CHECK(memory_line(*runs[0].result) ==
        "at most 3.6 MB: weights 400 kB, optimizer 800 kB, gradients 400 kB, activations 2 MB, workspace 50 "
        "kB");
  CHECK(memory_line(*runs[1].result).ends_with(", workspace 80 kB, scratch 10 kB"));
}

TEST_CASE("memory table: compare prints it under its own heading, a lesson does not") {
  ReportSection section{"Q", "", two_runs()};
  for (const bool wanted : {true, false}) {
    section.view.memory = wanted;
    std::ostringstream out;
    print_section(out, section, {.unicode = false, .colour = false, .width = 80});
    CHECK(has(out.str(), "\nMemory\n") == wanted);
    CHECK(has(out.str(), "shrink;") == wanted);
  }
}

TEST_CASE("memory table: the JSON of a comparison has the bytes of each kind") {
  std::vector<Run> runs = two_runs();
  runs[0].result->memory = {};
  const std::vector<Comparison> found = {compare_groups(group_by_recipe(runs), {})};
  const auto json = nlohmann::json::parse(comparison_json(found));
  REQUIRE(json.size() == 2);
  CHECK(json[0].at("memory").is_null());
  CHECK(json[1].at("memory") == nlohmann::json{{"weights", 200'000},
                                               {"masters", 400'000},
                                               {"optimizer", 800'000},
                                               {"gradients", 200'000},
                                               {"activations", 1'010'000},
                                               {"workspace", 80'000},
                                               {"scratch", 10'000}});
}
