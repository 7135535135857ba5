#include <lessons/lab/report/recorded_table.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tests/report/sample_runs.h>
#include <ctime>
#include <sstream>

using namespace tinymp;
using namespace tinymp::report;

TEST_CASE("a date is as many seconds as the C library counts") {
  for (const std::int64_t time :
       {0L, 951782399L, 951782400L, 1709251199L, 1777887000L, 4102444800L, 32503679999L}) {
    const std::time_t then = time;
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&then));
    CHECK(seconds_of(text) == time);
  }
  for (const char* const text :
       {"", "yesterday", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-01-01 00:00:00Z",
        "2026-01-01T00:00:00", "-026-01-01T00:00:00Z", "2026-01-0xT00:00:00Z"})
    CHECK(seconds_of(text) == -1);
}

TEST_CASE("an age is a number and a unit") {
  CHECK(age_text(100, 100) == "0 s");
  CHECK(age_text(100, 90) == "0 s");
  CHECK(age_text(0, 59) == "59 s");
  CHECK(age_text(0, 60) == "1 min");
  CHECK(age_text(0, 3600) == "1 h");
  CHECK(age_text(0, 48 * 3600) == "2 d");
  CHECK(age_text(0, 731 * 86400LL) == "2 y");
  CHECK(age_text(-1, 100).empty());
}

TEST_CASE("a loss that became finite again did not diverge") {
  Run run = sample::small_gradients().runs[0];
  CHECK(state_of(run) == "finished");
  run.steps[3].loss = std::numeric_limits<double>::infinity();
  run.result->first_nonfinite_step = 4;
  CHECK(state_of(run) == "finished");
  run.steps.back().loss = -std::numeric_limits<double>::infinity();
  CHECK(state_of(run) == "diverged");
  run.steps.back().loss = 1;
  run.result->value = std::numeric_limits<double>::quiet_NaN();
  CHECK(state_of(run) == "diverged");
  run.result.reset();
  CHECK(state_of(run) == "interrupted");
  run.steps.clear();
  CHECK(state_of(run) == "interrupted");
}

TEST_CASE("a run without a result is running while its log is written, and then interrupted") {
  const files::Folder folder;
  Run run;
  run.path = folder / "run.jsonl";
  {
    train::RunLog log(run.path, {.name = "x"});
    CHECK(state_of(run) == "running");
    run.result.emplace().value = 1;
    CHECK(state_of(run) == "finished");
    run.result.reset();
  }
  CHECK(state_of(run) == "interrupted");
}

TEST_CASE("the longest names of a sweep leave the table in 80 columns") {
  std::vector<Run> runs = sample::small_gradients().runs;
  for (Run& run : runs) {
    run.path = concat("runs/fp16_dynamic-lr0.00123-s", run.header.seed + 100, "/fp16_dynamic-seed100.jsonl");
    run.header.metric = "test accuracy (%)";
    run.header.seed += 100;
  }
  std::istringstream lines(report::format_table(
      recorded_table(runs, {.now = seconds_of("2026-05-04T10:29:30Z")}), {.unicode = true, .width = 80}));
  std::string all;
  for (std::string line; std::getline(lines, line); all += line + "\n") CHECK(display_width(line) <= 80);
  INFO(all);
  CHECK(all.find("finished") != std::string::npos);  // no state is broken
}

TEST_CASE("the newest run stands first, each with what became of it, in 80 columns") {
  std::vector<Run> runs = sample::small_gradients().runs;
  runs.push_back(sample::hostile().runs[1]);  // interrupted
  runs.back().header.date = "2026-05-05T09:30:00Z";
  runs.back().header.model = "resnet20 with a \x1b[2J very long name of its own";
  const Table table = recorded_table(runs, {.now = seconds_of("2026-05-05T10:30:00Z")});
  REQUIRE(table.rows.size() == runs.size());
  CHECK(table.rows[0][6] == "interrupted");
  CHECK(table.rows[0][7] == "1 h");
  CHECK(table.rows[1][6] == "finished");
  CHECK(table.rows[1][7] == "25 h");
  CHECK(table.rows.back()[6] == "diverged");
  std::istringstream lines(report::format_table(table, {.unicode = true, .colour = false, .width = 80}));
  for (std::string line; std::getline(lines, line);) {
    INFO(line);
    CHECK(display_width(line) <= 80);
    CHECK(line.find('\x1b') == std::string::npos);
  }
}

TEST_CASE("of two runs of the same second the one with the higher number is the newer") {
  const Run one = sample::small_gradients().runs[0];
  std::vector<Run> runs;
  for (const char* path : {"runs/train-001/a.jsonl", "runs/train-002/a.jsonl"}) {
    runs.push_back(one);
    runs.back().path = path;
  }
  const Table table = recorded_table(runs, {});
  CHECK(table.rows[0][0] == "train-002");
  CHECK(table.rows[1][0] == "train-001");
}

TEST_CASE("a run is listed by the path at which ./learn compare finds it") {
  std::vector<Run> runs(4, sample::small_gradients().runs[0]);
  const char* const paths[] = {"out/q/train-001/a.jsonl", "out/train-001/a.jsonl", "out/many/a.jsonl",
                               "out/many/b.jsonl"};
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i].path = paths[i];
  std::vector<std::string> names;
  for (const std::vector<std::string>& row : recorded_table(runs, {.folder = "out/"}).rows)
    names.push_back(row[0]);
  CHECK(names == std::vector<std::string>{"train-001", "q/train-001", "many/b", "many/a"});
}

TEST_CASE("a word that does not fit ends in a mark of the terminal") {
  std::vector<Run> runs(1, sample::small_gradients().runs[0]);
  runs[0].header.data = "fashion-mnist-cut (9000 train)";
  CHECK(recorded_table(runs, {.unicode = true}).rows[0][3] == "fashio…");
  CHECK(recorded_table(runs, {.unicode = false}).rows[0][3] == "fashio~");
}

TEST_CASE("weights stand by their hash, in 80 columns") {
  std::vector<Run> runs = sample::small_gradients().runs;
  runs.resize(2);
  runs[0].result->weights = "0123456789abcdef";
  runs[1].result->weights = "\x1b[2J and a text that no hash is";
  runs[1].header.date = "2026-05-05T09:30:00Z";
  const Table table =
      recorded_table(runs, {.now = seconds_of("2026-05-05T10:30:00Z"), .columns = RunColumns::weights});
  CHECK(table.header[2] == "weights");
  CHECK(table.rows[1][2] == "0123456789abcdef");
  std::istringstream lines(report::format_table(table, {.unicode = true, .colour = false, .width = 80}));
  for (std::string line; std::getline(lines, line);) {
    CHECK(display_width(line) <= 80);
    CHECK(line.find('\x1b') == std::string::npos);
  }
  runs[0].result.reset();
  CHECK(recorded_table(runs, {.columns = RunColumns::weights}).rows[1][2] == "-");
}
