#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tests/catch.h>
#include <tests/data/files.h>
#include <tests/train/small_disk.h>
#include <tinymp/base/error.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/train/run_log.h>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <thread>

using namespace tinymp;
using namespace tinymp::train;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

RunHeader some_header() {
  RunHeader h;
  h.lesson = "06_loss_scaling";
  h.question = "Do small gradients survive?";
  h.name = "FP16, \"S\" = 1 \n</script> µ";
  h.recipe = recipes::fp16_static;
  h.seed = std::numeric_limits<std::uint64_t>::max();
  h.model = "autoencoder 784-64-32-64-784 sigmoid";
  h.data = "mnist (55000 train, 5000 validation, 10000 test)";
  h.optimizer = "adam lr=0.01";
  h.steps = 400;
  h.batch = 2048;
  h.metric = "test MSE";
  h.higher_is_better = true;
  h.command = "./learn run 6";
  return h;
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(text_of(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

void check_says(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    INFO("message: " << message << "\nexpected in it: " << part);
    CHECK(message.find(part) != std::string::npos);
  }
}

void check_same(double a, double b) { CHECK(((std::isnan(a) && std::isnan(b)) || a == b)); }

void check_same(const LogRecord& a, const LogRecord& b) {
  CHECK(a.step == b.step);
  CHECK(a.skipped == b.skipped);
  CHECK(a.skips == b.skips);
  for (const auto value :
       {&LogRecord::loss, &LogRecord::scale, &LogRecord::zero, &LogRecord::subnormal, &LogRecord::flushed,
        &LogRecord::underflowed, &LogRecord::absorbed, &LogRecord::lr, &LogRecord::grad_norm,
        &LogRecord::epoch, &LogRecord::seconds, &LogRecord::validation_loss, &LogRecord::metric}) {
    check_same(a.*value, b.*value);
    CHECK(is_measured(a.*value) == is_measured(b.*value));
  }
}

void check_same(const RunHeader& a, const RunHeader& b) {
  for (const auto text :
       {&RunHeader::lesson, &RunHeader::question, &RunHeader::name, &RunHeader::model, &RunHeader::data,
        &RunHeader::optimizer, &RunHeader::metric, &RunHeader::command, &RunHeader::date, &RunHeader::commit,
        &RunHeader::compiler, &RunHeader::device, &RunHeader::pieces})
    CHECK(a.*text == b.*text);
  CHECK(a.recipe == b.recipe);
  CHECK(a.seed == b.seed);
  CHECK(a.steps == b.steps);
  CHECK(a.batch == b.batch);
  CHECK(a.higher_is_better == b.higher_is_better);
  CHECK(a.threads == b.threads);
}

std::vector<LogRecord> some_steps() {
  LogRecord plain{.step = 1, .loss = 0.1, .scale = 65536};
  LogRecord full{.step = 2, .loss = 1.0 / 3, .scale = 0x1p-30, .skipped = true, .skips = 7};
  full.lr = 0.0625;
  full.zero = 0.25;
  full.subnormal = 0.125;
  full.flushed = 0;
  full.underflowed = 1e-9;
  full.absorbed = 1;
  full.grad_norm = 1e-12;
  full.epoch = 0.5;
  full.seconds = 0.125;
  LogRecord broken{.step = 5'000'000'000, .loss = std::nan(""), .scale = infinity};
  broken.validation_loss = std::nan("");  // measured, and a result
  broken.metric = 9.8;
  LogRecord infinite{.step = 5'000'000'001, .loss = -infinity, .scale = 5e-324};
  return {plain, full, broken, infinite};
}

/// A header and one step, as lines.
std::string small_log(const files::Folder& folder) {
  static int number = 0;
  RunLog log(folder / concat("small-", number++, ".jsonl"), some_header());
  log.write({.step = 1, .loss = 2.5});
  return text_of(log.path());
}

}  // namespace

TEST_CASE("a run log reads back as it was written, every field, every recipe") {
  Recipe odd{.compute = DType::f16, .accumulate = DType::f64, .gradient = DType::f16, .master = DType::f64};
  odd.state = DType::f16;
  odd.rounding = {Rounding::stochastic, Rounding::toward_zero, Rounding::nearest_even, Rounding::stochastic,
                  Rounding::toward_zero};
  odd.kahan = true;
  odd.scaling = DynamicScaling{.initial = std::numeric_limits<float>::infinity(),
                               .growth = 1.5,
                               .backoff = 0.1,
                               .growth_interval = 77};
  Recipe skipping = recipes::fp16_static;
  skipping.scaling = StaticScaling{.factor = 0.1f, .skip_nonfinite = true};
  Recipe floored = odd;
  floored.scaling = EnhancedScaling{.dynamic = {.initial = 8, .growth_interval = 7},
                                    .floor = scale_floors_from("1:0.1,150000:32768")};
  Recipe scaled = recipes::fp8_hybrid;
  scaled.eight_bits.margin = -7, scaled.eight_bits.history = 31;
  scaled.eight_bits.amax = AmaxAlgorithm::most_recent;
  for (const Recipe& recipe :
       {recipes::fp32, recipes::fp16_weights, recipes::fp16_dynamic, skipping, odd, floored, scaled}) {
    files::Folder folder;
    RunHeader header = some_header();
    header.recipe = recipe;
    RunLog log(folder / "run.jsonl", header);
    for (const LogRecord& step : some_steps()) log.write(step);
    const RunResult result{.value = 93.88,
                           .taken = 398,
                           .skipped = 2,
                           .first_nonfinite_step = 12,
                           .seconds = 11.25,
                           .weights = "0123456789abcdef",
                           .peak_bytes = 1 << 20,
                           .peak_without_scratch = 1 << 19,
                           .memory = {1, 2, 3, 4, 5, 6, 7}};
    log.finish(result);

    const Run run = load_run(log.path());
    CHECK(run.path == log.path());
    CHECK(run.header.name == header.name);
    CHECK_FALSE(run.header.date.empty());
    check_same(run.header, log.header());
    const std::vector<LogRecord> steps = some_steps();
    REQUIRE(run.steps.size() == steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) check_same(run.steps[i], steps[i]);
    REQUIRE(run.result);
    CHECK(run.result->value == result.value);
    CHECK(run.result->taken == result.taken);
    CHECK(run.result->skipped == result.skipped);
    CHECK(run.result->first_nonfinite_step == result.first_nonfinite_step);
    CHECK(run.result->seconds == result.seconds);
    CHECK(run.result->weights == result.weights);
    CHECK(run.result->peak_bytes == result.peak_bytes);
    CHECK(run.result->peak_without_scratch == result.peak_without_scratch);
    CHECK(run.result->memory == result.memory);
  }
}

TEST_CASE("the lines of a run log are what the format says") {
  files::Folder folder;
  RunLog log(folder / "run.jsonl", some_header());
  for (const LogRecord& step : some_steps()) log.write(step);
  log.finish({.value = std::nan(""), .taken = 3});
  const std::vector<std::string> lines = lines_of(log.path());
  REQUIRE(lines.size() == 6);
  CHECK(lines[0].rfind("{\"tinymp_run\":1,\"lesson\":\"06_loss_scaling\",", 0) == 0);
  check_says(lines[0], {"\"recipe\":{\"compute\":\"f16\",\"accumulate\":\"f32\",\"gradient\":\"f16\","
                        "\"master\":\"f32\",\"state\":\"f32\",\"autocast\":\"f32\","
                        "\"fp8_forward\":\"f32\",\"fp8_backward\":\"f32\","
                        "\"fp8_gradient\":\"f32\",\"fp8_saturates\":false,\"fp8_exempt\":\"\","
                        "\"fp8_scaling\":\"none\",\"fp8_margin\":0,\"fp8_history\":1024,\"fp8_amax\":\"max\","
                        "\"round_weights\":\"nearest\",\"round_activations\":\"nearest\","
                        "\"round_errors\":\"nearest\",\"round_gradients\":\"nearest\","
                        "\"round_masters\":\"nearest\",\"kahan\":false,\"fp32_norm\":false,"
                        "\"scaling\":{\"kind\":\"static\","
                        "\"factor\":1024.0,\"skip_nonfinite\":false}},\"seed\":18446744073709551615,"});
  CHECK(lines[1] == R"({"step":1,"loss":0.1,"scale":65536.0,"skipped":false,"skips":0})");
  CHECK(lines[2] ==
        R"({"step":2,"loss":0.3333333333333333,"scale":9.313225746154785e-10,"skipped":true,"skips":7,)"
        R"("lr":0.0625,"zero":0.25,"subnormal":0.125,"flushed":0.0,"underflowed":1e-09,"absorbed":1.0,)"
        R"("grad_norm":1e-12,"epoch":0.5,"seconds":0.125})");
  CHECK(lines[3] == R"({"step":5000000000,"loss":"nan","scale":"inf","skipped":false,"skips":0,)"
                    R"("validation_loss":"nan","metric":9.8})");
  CHECK(lines[4] == R"({"step":5000000001,"loss":"-inf","scale":5e-324,"skipped":false,"skips":0})");
  CHECK(lines[5] ==
        R"({"result":{"value":"nan","taken":3,"skipped":0,"first_nonfinite_step":0,"seconds":0.0}})");
}

TEST_CASE("a finding is a line of its own, and reads back") {
  files::Folder folder;
  RunLog log(folder / "run.jsonl", some_header());
  log.write({.step = 1, .loss = 2});
  Finding found;
  found.kind = "first bad";
  found.step = 2;
  found.direction = "forward";
  found.where = "layer 2";
  found.op = "linear";
  found.dtype = DType::f16;
  found.shape = "(64, 10)";
  found.value = -infinity;
  found.low = -3.25;
  found.high = 1e30;
  found.parameter = "layer 1 weight";
  found.sentence = "Step 2, forward: \"linear\"";
  log.note(found);
  log.write({.step = 2, .loss = 1});
  log.finish({});
  CHECK(lines_of(log.path())[2] ==
        R"({"finding":{"kind":"first bad","step":2,"sentence":"Step 2, forward: \"linear\"",)"
        R"-("direction":"forward","where":"layer 2","op":"linear","dtype":"f16","shape":"(64, 10)",)-"
        R"("value":"-inf","low":-3.25,"high":1e+30,"parameter":"layer 1 weight"}})");
  const Run run = load_run(log.path());
  CHECK(run.steps.size() == 2);
  REQUIRE(run.findings.size() == 1);
  const Finding& read = run.findings[0];
  CHECK((read.kind == found.kind && read.step == 2 && read.direction == found.direction));
  CHECK((read.where == found.where && read.op == found.op && read.dtype == found.dtype));
  CHECK((read.shape == found.shape && read.value == found.value && read.low == found.low));
  CHECK((read.high == found.high && read.parameter == found.parameter && read.sentence == found.sentence));
}

TEST_CASE("a finding of nothing has no value: a NaN would be one") {
  files::Folder folder;
  RunLog log(folder / "run.jsonl", some_header());
  Finding none;
  none.kind = "first bad";
  none.step = 2;
  none.sentence = "Step 2: lost";
  log.note(none);
  log.finish({});
  CHECK(lines_of(log.path())[1] == R"({"finding":{"kind":"first bad","step":2,"sentence":"Step 2: lost"}})");
  const Run run = load_run(log.path());
  REQUIRE(run.findings.size() == 1);
  CHECK((run.findings[0].step == 2 && run.findings[0].sentence == none.sentence));
  CHECK((run.findings[0].direction.empty() && std::isnan(run.findings[0].value)));
}

TEST_CASE("a run says where it comes from") {
  files::Folder folder;
  RunLog log(folder / "run.jsonl", some_header());
  const RunHeader h = load_run(log.path()).header;
  CHECK(log.header().date == h.date);
  CHECK(log.header().commit == h.commit);
  CHECK(log.header().compiler == h.compiler);
  CHECK(log.header().device == h.device);
  CHECK(log.header().threads == h.threads);
  CHECK(std::regex_match(h.date, std::regex(R"(20\d\d-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-6]\dZ)")));
  CHECK(std::regex_match(h.commit, std::regex(R"([0-9a-f]{12,40}\+?|unknown)")));
  CHECK(std::regex_match(h.compiler, std::regex(R"((g|clang)\+\+ \d+\..*)")));
  CHECK_FALSE(h.device.empty());
  CHECK(h.threads == threads());

  RunHeader on_gpu = some_header();
  on_gpu.device = "NVIDIA H200";
  CHECK(load_run(RunLog(folder / "gpu.jsonl", on_gpu).path()).header.device == "NVIDIA H200");
}

TEST_CASE("every line is on the disk as soon as it is written") {
  files::Folder folder;
  RunLog log(folder / "run.jsonl", some_header());
  CHECK(load_run(log.path()).steps.empty());
  log.write({.step = 1, .loss = 2});
  CHECK(load_run(log.path()).steps.size() == 1);
  log.write({.step = 2, .loss = 1});
  const Run run = load_run(log.path());
  CHECK(run.steps.size() == 2);
  CHECK_FALSE(run.result);
}

TEST_CASE("nothing is written over, and nothing after the end") {
  files::Folder folder;
  write_text(folder / "run.jsonl", "precious");
  check_says(files::message<Error>([&] { RunLog(folder / "run.jsonl", some_header()); }),
             {folder / "run.jsonl", "exists", "--out DIR"});
  CHECK(text_of(folder / "run.jsonl") == "precious");

  RunLog log(folder / "other.jsonl", some_header());
  log.finish({});
  check_says(files::message<Error>([&] { log.write({.step = 1}); }), {"other.jsonl", "closed"});
  CHECK_THROWS_AS(log.finish({}), Error);
  check_says(files::message<Error>([&] { RunLog(folder / "no/such/run.jsonl", some_header()); }),
             {"No such file or directory", "no/such/run.jsonl"});
}

TEST_CASE("bytes that are not UTF-8 do not stop a run") {
  files::Folder folder;
  RunHeader header = some_header();
  header.data = "/data/caf\xE9";
  CHECK(load_run(RunLog(folder / "run.jsonl", header).path()).header.data == "/data/caf\xEF\xBF\xBD");
}

TEST_CASE("an interrupted run keeps its whole lines, wherever the last one was cut") {
  files::Folder folder;
  const std::string whole = small_log(folder);
  const std::string last = R"({"step":2,"loss":0.5,"scale":1.0,"skipped":false,"skips":0,"zero":0.25})";
  for (std::size_t length = 0; length < last.size(); ++length) {
    write_text(folder / "cut.jsonl", whole + last.substr(0, length));
    const Run run = load_run(folder / "cut.jsonl");
    CHECK(run.steps.size() == 1);
    CHECK_FALSE(run.result);
  }
  write_text(folder / "cut.jsonl", whole + last);  // only the newline is missing: nothing is lost
  CHECK(load_run(folder / "cut.jsonl").steps.size() == 2);
}

TEST_CASE("a file that is no run log: the message names file and line") {
  files::Folder folder;
  const std::string good = small_log(folder);
  const std::string header = good.substr(0, good.find('\n') + 1);
  const std::string path = folder / "bad.jsonl";
  const auto complaint = [&](const std::string& text) {
    write_text(path, text);
    return files::message<Error>([&] { load_run(path); });
  };
  const auto replaced = [&](const std::string& what, const std::string& with) {
    std::string text = good;
    REQUIRE(text.find(what) != std::string::npos);
    return text.replace(text.find(what), what.size(), with);
  };
  check_says(complaint(""), {path, "empty"});
  check_says(complaint(header.substr(0, 40)), {path + ":1:", "not JSON"});
  check_says(complaint("\x89PNG\r\n\x1a\n"), {path + ":1:"});
  check_says(complaint("[1, 2]\n"), {path + ":1:", "object"});
  check_says(complaint("{\"a\": 1}\n"), {path + ":1:", "tinymp_run"});
  check_says(complaint(replaced("\"tinymp_run\":1", "\"tinymp_run\":2")), {":1:", "format 2"});
  check_says(complaint(replaced("\"f16\"", "\"f17\"")), {":1:", "f17"});
  check_says(complaint(replaced("\"static\"", "\"magic\"")), {":1:", "magic"});
  check_says(complaint(replaced("\"static\"", "\"enhanced\",\"floor\":\"2:8,1:9\"")),
             {":1:", "\"floor\"", "steps must rise"});
  check_says(complaint(replaced("\"static\"", "\"enhanced\",\"floor\":8")), {":1:", "\"floor\"", "type"});
  check_says(complaint(replaced("\"steps\":400", "\"steps\":\"many\"")), {":1:", "\"steps\""});
  check_says(complaint(replaced("\"steps\":400", "\"steps\":18446744073709551615")), {"out of range"});
  check_says(complaint(replaced("\"threads\":", "\"threads\":99999999999, \"x\":")), {"out of range"});
  check_says(complaint(replaced("\"recipe\"", "\"receipt\"")), {":1:", "\"recipe\""});
  check_says(complaint(good + "garbage\n"), {path + ":3:", "not JSON"});
  check_says(complaint(good + "\n" + "{\"step\":2,\"loss\":1}\n"), {path + ":3:"});
  check_says(complaint(good + "{\"step\":2}\n"), {path + ":3:", "neither"});
  check_says(complaint(good + "{\"step\":2,\"loss\":\"high\"}\n"), {path + ":3:", "\"loss\""});
  check_says(complaint(good + "{\"step\":1,\"loss\":1}\n"), {path + ":3:", "step 1 after step 1"});
  check_says(complaint(good + "{\"step\":1.5,\"loss\":1}\n"), {path + ":3:", "\"step\""});
  check_says(complaint(good + "{\"result\":{}}\n" + good), {path + ":4:", "after the result"});
  check_says(complaint(good + "{\"result\":3}\n"), {path + ":3:"});
  check_says(files::message<Error>([&] { load_run(folder / "none.jsonl"); }), {"none.jsonl", "No such file"});
  check_says(files::message<Error>([&] { load_run(folder.path.string()); }), {"folder"});
}

TEST_CASE("a hostile log: depth, length and names are bounded, messages stay short") {
  files::Folder folder;
  const std::string good = small_log(folder), path = folder / "bad.jsonl";
  const auto complaint = [&](const std::string& text) {
    write_text(path, text);
    const std::string message = files::message<Error>([&] { load_run(path); });
    CHECK(message.size() < path.size() + 300);
    return message;
  };
  const auto nested = [](int depth, const std::string& key) {
    const auto many = static_cast<std::size_t>(depth);
    return concat("{\"tinymp_run\":1,\"", key, "\":", std::string(many, '['), std::string(many, ']'), "}\n");
  };
  for (const int depth : {100, 20'000, 1'000'000})
    for (const char* const key : {"lesson", "steps", "kind", "sizes", "loss"}) {
      check_says(complaint(nested(depth, key)), {path + ":1:", "nested more than 64 deep"});
      check_says(complaint(good + nested(depth, key)), {path + ":3:", "nested more than 64 deep"});
    }
  check_says(complaint(nested(60, "lesson")), {path + ":1:", "wrong type: [[[["});
  std::string odd = good;
  odd.replace(odd.find("\"steps\":400"), 11, "\"steps\":\"\\u001b[2J" + std::string(3000, 'x') + "\"");
  check_says(complaint(odd), {":1:", "\"steps\" has the wrong type", "u001b[2Jxxx", "xxx..."});
  check_says(complaint(good + std::string(5 << 20, ' ') + "\n"), {path + ":3:", "more than 4 MB"});
  check_says(complaint(std::string(5 << 20, '{')), {path + ":1:", "more than 4 MB"});
  for (const std::size_t length : {4094u, 4095u, 4096u, 8190u, 1u << 20}) {  // blocks of the reader
    const std::string step = "{\"step\":2,\"loss\":1}";
    write_text(path, good + std::string(length - step.size(), ' ') + step + "\n{\"step\":3,\"loss\":1}");
    CHECK(load_run(path).steps.size() == 3);
  }

  std::string long_names = good;
  const std::string name = "\"name\":\"", letters = "aé";
  long_names.insert(long_names.find(name) + name.size(), std::string(100'000, 'n'));
  write_text(path, long_names);
  CHECK(load_run(path).header.name == std::string(119, 'n') + "…");
  long_names = good;
  for (int i = 0; i < 100; ++i) long_names.insert(long_names.find(name) + name.size(), letters);
  write_text(path, long_names);
  CHECK(load_run(path).header.name.substr(0, 6) == "aéaé");
  CHECK(load_run(path).header.name.size() == 119 + 59 + 3);

  std::filesystem::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  check_says(files::message<Error>([&] { load_run(path); }), {path, "no regular file"});
  check_says(files::message<Error>([&] { load_run("/dev/zero"); }), {"/dev/zero", "no regular file"});
}

TEST_CASE("keys that an older run lacks keep their defaults, unknown ones are passed over") {
  files::Folder folder;
  write_text(
      folder / "old.jsonl",
      "{\"tinymp_run\":1,\"name\":\"old\",\"recipe\":{\"scaling\":{\"kind\":\"none\"}},\"new\":[1]}\r\n"
      "{\"step\":3,\"loss\":1,\"colour\":\"red\"}\r\n{\"result\":{}}\r\n");
  const Run run = load_run(folder / "old.jsonl");
  CHECK(run.header.recipe == Recipe{});
  REQUIRE(run.steps.size() == 1);
  CHECK(run.steps[0].scale == 1);
  CHECK(std::isnan(run.steps[0].flushed));
  REQUIRE(run.result);
  CHECK(std::isnan(run.result->value));
}

TEST_CASE("a full disk is noticed at the line that does not fit") {
  SmallDisk disk(64);
  if (!disk.mounted) SKIP_TEST("mounting a small tmpfs needs Linux and root");
  {
    RunLog earlier(disk / "earlier.jsonl", some_header());
    earlier.finish({.value = 1});
  }
  const std::string before = text_of(disk / "earlier.jsonl");
  const std::vector<std::string> is_clear = {"No space left on device", "free some space", "--out DIR",
                                             disk / "run.jsonl"};

  SECTION("in the middle of a run: what was written before stays readable") {
    RunLog log(disk / "run.jsonl", some_header());
    std::int64_t written = 0;
    const std::string message = files::message<Error>([&] {
      for (std::int64_t step = 1; step < 100000; ++step) {
        log.write({.step = step, .loss = 1.0 / static_cast<double>(step)});
        written = step;
      }
    });
    check_says(message, is_clear);
    const Run run = load_run(log.path());
    const auto whole = static_cast<std::int64_t>(run.steps.size());
    CHECK((whole == written || whole == written + 1));  // one more where its line break alone did not fit
    CHECK_FALSE(run.result);
    check_says(files::message<Error>([&] { log.write({.step = 200000}); }), {"closed"});
  }
  SECTION("at the first line: no empty run is left behind") {
    disk.fill();
    check_says(files::message<Error>([&] { RunLog(disk / "run.jsonl", some_header()); }), is_clear);
    CHECK_FALSE(std::filesystem::exists(disk / "run.jsonl"));
  }
  CHECK(text_of(disk / "earlier.jsonl") == before);
}

TEST_CASE("a read-only folder: one message, earlier runs untouched") {
  SmallDisk disk(64);
  if (!disk.mounted) SKIP_TEST("mounting a small tmpfs needs Linux and root");
  { RunLog earlier(disk / "earlier.jsonl", some_header()); }
  const std::string before = text_of(disk / "earlier.jsonl");
  disk.make_read_only();
  const std::vector<std::string> is_clear = {"Read-only file system", "--out DIR", disk.folder.path.string()};
  check_says(files::message<Error>([&] { RunLog(disk / "run.jsonl", some_header()); }), is_clear);
  check_says(files::message<Error>([&] { new_run_folder(disk / "", "quickstart"); }), is_clear);
  check_says(files::message<Error>([&] { new_run_folder(disk / "runs", "quickstart"); }), is_clear);
  CHECK(text_of(disk / "earlier.jsonl") == before);
  CHECK_FALSE(std::filesystem::exists(disk / "run.jsonl"));
}

TEST_CASE("run folders are numbered and never taken twice") {
  files::Folder folder;
  const std::string dir = folder / "runs/of today";
  CHECK(new_run_folder(dir, "quick") == dir + "/quick-001");
  CHECK(new_run_folder(dir, "quick") == dir + "/quick-002");
  CHECK(new_run_folder(dir, "other") == dir + "/other-001");
  write_text(dir + "/quick-003", "a file");
  CHECK(new_run_folder(dir, "quick") == dir + "/quick-004");
  std::filesystem::remove(dir + "/quick-001");
  CHECK(new_run_folder(dir, "quick") == dir + "/quick-001");
  write_text(folder / "file", "");
  check_says(files::message<Error>([&] { new_run_folder(folder / "file", "quick"); }),
             {"--out DIR", folder / "file"});

  std::vector<std::string> made(40);
  std::thread other([&] {
    for (std::size_t i = 0; i < 20; ++i) made[i] = new_run_folder(dir, "race");
  });
  for (std::size_t i = 20; i < 40; ++i) made[i] = new_run_folder(dir, "race");
  other.join();
  CHECK(std::set<std::string>(made.begin(), made.end()).size() == 40);
}

namespace {

std::vector<StepSizes> some_sizes() {
  StepSizes first{.step = 1, .scale = 1024, .parameters = {}};
  first.parameters.push_back({"1 (784,64)",
                              {.sizes = {.zeros = 9, .nonfinite = 1, .first = -31, .counts = {3, 0, 14}},
                               .largest = 0x1.8p-20,
                               .subnormal = 12,
                               .overflowed = 2,
                               .flushed = 5'000'000'000},
                              {}});
  StepSizes second{.step = 40, .scale = infinity, .parameters = {}};
  second.parameters.push_back({"\"µ\"", {}, UpdateSizes{}});
  second.parameters.back().updates->ratios = {.zeros = 1, .nonfinite = 2, .first = 7, .counts = {3}};
  second.parameters.back().updates->underflowed = 4;
  second.parameters.back().updates->absorbed = 5;
  return {first, second};
}

}  // namespace

TEST_CASE("the sizes of a step have a line of their own, and read back as they were written") {
  files::Folder folder;
  RunLog log(folder / "run.jsonl", some_header());
  log.write({.step = 1, .loss = 2.5});
  for (const StepSizes& sizes : some_sizes()) log.write_sizes(sizes);
  log.finish({.value = 1});
  const std::vector<std::string> lines = lines_of(log.path());
  REQUIRE(lines.size() == 5);
  CHECK(lines[2] ==
        R"~({"sizes":{"step":1,"scale":1024.0,"parameters":[{"name":"1 (784,64)","gradients":)~"
        R"~({"zeros":9,"nonfinite":1,"first":-31,"counts":[3,0,14],"largest":1.430511474609375e-06,)~"
        R"~("subnormal":12,"overflowed":2,"flushed":5000000000}}]}})~");
  CHECK(lines[3] ==
        R"~({"sizes":{"step":40,"scale":"inf","parameters":[{"name":"\"µ\"","gradients":)~"
        R"~({"zeros":0,"nonfinite":0,"first":0,"counts":[],"largest":0.0,"subnormal":0,"overflowed":0,)~"
        R"~("flushed":0},"updates":{"zeros":1,"nonfinite":2,"first":7,"counts":[3],"underflowed":4,)~"
        R"~("absorbed":5}}]}})~");
  const Run run = load_run(log.path());
  CHECK(run.sizes == some_sizes());
  CHECK(run.steps.size() == 1);
  CHECK(run.result);
}

TEST_CASE("what FP8 lost is in the line of the sizes, reads back, and nonsense is refused") {
  files::Folder folder;
  StepSizes sizes = some_sizes()[0];
  sizes.eight_bits = {{"activations", DType::e4m3, 1000, 12, 3}, {"errors", DType::e5m2, 7, 0, 0}};
  {
    RunLog log(folder / "run.jsonl", some_header());
    log.write_sizes(sizes);
  }
  const std::string line = lines_of(folder / "run.jsonl")[1];
  CHECK(line.ends_with(
      R"~(],"fp8":[{"what":"activations","dtype":"e4m3","values":1000,"flushed":12,"saturated":3},)~"
      R"~({"what":"errors","dtype":"e5m2","values":7,"flushed":0,"saturated":0}]}})~"));
  const Run run = load_run(folder / "run.jsonl");
  REQUIRE(run.sizes.size() == 1);
  CHECK(run.sizes[0] == sizes);
  const std::string header = lines_of(folder / "run.jsonl")[0] + "\n", path = folder / "bad.jsonl";
  for (const auto& [what, with] : {std::pair{"\"e4m3\"", "\"e9m9\""},
                                   {"\"flushed\":12", "\"flushed\":-12"},
                                   {"\"what\":\"errors\"", "\"what\":7"}}) {
    std::string text = header + line + "\n";
    write_text(path, text.replace(text.find(what), std::string(what).size(), with));
    check_says(files::message<Error>([&] { load_run(path); }), {path + ":2:", "\"sizes\""});
  }
}

TEST_CASE("sizes that are none: the message names file and line") {
  files::Folder folder;
  std::string good = small_log(folder);
  {
    RunLog log(folder / "sizes.jsonl", some_header());
    log.write_sizes(some_sizes()[0]);
    good += lines_of(log.path())[1] + "\n";
  }
  const std::string path = folder / "bad.jsonl";
  const auto complaint = [&](const std::string& what, const std::string& with) {
    std::string text = good;
    REQUIRE(text.find(what) != std::string::npos);
    write_text(path, text.replace(text.find(what), what.size(), with));
    return files::message<Error>([&] { load_run(path); });
  };
  check_says(complaint("\"zeros\":9", "\"zeros\":-9"), {path + ":3:", "\"zeros\"", "-9"});
  check_says(complaint("\"zeros\":9", "\"noughts\":9"), {path + ":3:", "zeros"});
  check_says(complaint("[3,0,14]", "[3,-1,14]"), {path + ":3:", "-1"});
  check_says(complaint("[3,0,14]", "[3,\"many\",14]"), {path + ":3:", "\"sizes\""});
  check_says(complaint("\"parameters\":[{", "\"parameters\":[7,{"), {path + ":3:", "\"sizes\""});
  check_says(complaint("\"first\":-31", "\"first\":-3100000"), {path + ":3:", "\"first\""});
  for (const char* none : {"9.5", "true", "\"9\"", "null", "18446744073709551615"}) {
    INFO(none);
    check_says(complaint("\"zeros\":9", std::string("\"zeros\":") + none), {path + ":3:", "\"zeros\"", none});
    check_says(complaint("[3,0,14]", concat("[3,", none, ",14]")), {path + ":3:", "\"counts\"", none});
    check_says(complaint("\"first\":-31", std::string("\"first\":") + none),
               {path + ":3:", "\"first\"", none});
  }
  for (const char* none : {"1000000000001", "9223372036854775807"})
    check_says(complaint("[3,0,14]", concat("[", none, "]")), {path + ":3:", "\"counts\"", none});
  check_says(complaint("[3,0,14]", "{\"3\":0}"), {path + ":3:", "\"counts\""});
  check_says(complaint("\"parameters\":[{", "\"parameters\":{\"a\":1},\"b\":[{"),
             {path + ":3:", "\"parameters\""});
  for (const char* none : {"true", "null", "\"much\""}) {
    check_says(complaint("\"largest\":1.430511474609375e-06", std::string("\"largest\":") + none),
               {path + ":3:", "\"largest\"", none});
    check_says(complaint("\"sizes\":{\"step\":1,\"scale\":1024.0",
                         std::string("\"sizes\":{\"step\":1,\"scale\":") + none),
               {path + ":3:", "\"scale\"", none});
  }
  check_says(complaint("{\"sizes\":{", "{\"sizes\":[],\"x\":{"), {path + ":3:", "\"sizes\""});
  write_text(path, good + lines_of(folder / "sizes.jsonl")[1] + "\n");
  check_says(files::message<Error>([&] { load_run(path); }), {path + ":4:", "steps must go up"});
}

TEST_CASE("a log is being written until its program ends it, or ends") {
  const files::Folder folder;
  const std::string path = folder / "run.jsonl";
  CHECK_FALSE(is_being_written(path));  // there is none
  {
    RunLog log(path, some_header());
    CHECK(is_being_written(path));
    check_says(files::message<Error>([&] { HeldLog{path}; }), {path, "another program is writing it"});
    log.finish({});
    CHECK_FALSE(is_being_written(path));
  }
  const std::string other = folder / "other.jsonl";
  const pid_t child = fork();
  if (child == 0) {
    RunLog log(other, some_header());
    for (;;) pause();
  }
  for (int i = 0; i < 1000 && !is_being_written(other); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(is_being_written(other));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  CHECK_FALSE(is_being_written(other));
  RunLog again(HeldLog(other), 0, 0);
  CHECK(is_being_written(other));
}
