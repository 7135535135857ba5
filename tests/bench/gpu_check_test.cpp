#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/bench/gpu_check_report.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <thread>

// What ./learn gpu-check does when something on the GPU fails or hangs. Shell scripts stand for the programs.
namespace tinymp::test {
namespace {

namespace fs = std::filesystem;
using lab::gpu_check::Finding;
using lab::gpu_check::Outcome;
using lab::gpu_check::run_program;
using lab::gpu_check::Setting;
using lab::gpu_check::State;

void write_script(const fs::path& path, const std::string& text) {
  std::ofstream(path) << "#!/bin/sh\n" << text;
  fs::permissions(path, fs::perms::owner_all);
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("gpu-check: a program that hangs is ended, also one that does not listen") {
  const files::Folder folder;
  for (const char* const text : {"exec sleep 60", "trap '' TERM; while :; do sleep 1; done"}) {
    write_script(folder.path / "hangs", text);
    Outcome outcome;
    const double seconds = seconds_of([&] { outcome = run_program({folder / "hangs"}, 0.3); });
    CHECK(outcome.timed_out);
    CHECK_FALSE(outcome.good());
    CHECK(outcome.text() == "no end after 0.3 s");
    CHECK(seconds < 10);
  }
}

TEST_CASE("gpu-check: how a program ended, in words") {
  const files::Folder folder;
  write_script(folder.path / "ends", "echo one; echo two; exit $1");
  write_script(folder.path / "dies", "kill -SEGV $$");
  const fs::path log = folder.path / "log";
  CHECK(run_program({folder / "ends", "0"}, 20, log).good());
  CHECK(lab::gpu_check::last_line_of(log) == "two");
  CHECK(run_program({folder / "ends", "3"}, 20, log).text() == "exit code 3");
  CHECK(run_program({folder / "ends", "255"}, 20, log).text() ==
        "exit code 255");  // Catch2: 255 checks failed
  CHECK(run_program({folder / "dies"}, 20, log).text() == "ended by signal 11");
  CHECK(run_program({folder / "ends", "0"}, 0, log).text() == "not started: the time of this part is over");
  CHECK(run_program({folder / "none"}, 20, log).text() == "cannot be started: is it built?");
}

TEST_CASE("gpu-check: of a test program that fails, each case that fails alone is named") {
  const files::Folder folder;
  const Setting setting{.tests = folder.path, .scratch = folder.path, .patience = 0.1};  // 30 s are 3 s
  write_script(folder.path / "cuda_same_bits", "exit 0");
  write_script(folder.path / "test_cuda", R"(
case "$1" in
  --list-test-names-only) printf 'passes\nfails, now and then\nhangs\n'; exit 3 ;;
  passes) exit 0 ;;
  'fails\, now and then') echo 'expected 1, got 2'; exit 1 ;;
  hangs) exec sleep 60 ;;
  '') echo 'test cases: 3 | 2 failed'; exit 2 ;;
  *) exit 9 ;;
esac
)");
  const Finding finding = lab::gpu_check::check_kernels(setting);
  CHECK(finding.state == State::bad);
  CHECK(finding.summary.starts_with("1 of 2 test programs fail, 2 of their cases alone"));
  const std::vector<std::vector<std::string>> expected{{"program", "outcome"},
                                                       {"test_cuda", "test cases: 3 | 2 failed"},
                                                       {"  fails, now and then", "exit code 1"},
                                                       {"  hangs", "no end after 3 s"},
                                                       {"cuda_same_bits", ""}};
  CHECK(finding.table == expected);
}

TEST_CASE("gpu-check: each tool of compute-sanitizer sees ops, the ladder, an eager step and a graph") {
  const files::Folder folder;
  const Setting setting{
      .programs = folder.path, .tests = folder.path, .scratch = folder.path, .part = "sanitizer"};
  write_script(folder.path / "compute-sanitizer", R"(
[ "$1" = --version ] && exit 0
case "$2 $*" in
  'racecheck '*'--sums f16'*) echo 'RACECHECK SUMMARY: 1 hazard'; exit 9 ;;
  *) echo "$5 $6 $7" ;;
esac
)");
  const std::string path = folder.path.string() + ":" + std::getenv("PATH");
  const files::Environment first("PATH", path.c_str());
  const Finding finding = lab::gpu_check::check_sanitizer(setting);
  CHECK(finding.state == State::bad);
  CHECK(finding.summary.starts_with("of 20 runs under a tool 1 end badly, 0 took too long"));
  REQUIRE(finding.table.size() == 21);
  CHECK(finding.table[1] == std::vector<std::string>{"memcheck", "every op in FP16",
                                                     folder / "test_cuda" + " every op in f16: gradients* "});
  CHECK(finding.table[2][0] == "racecheck");  // all tools watch the first program before the second
  CHECK(finding.table[5][2] == folder / "measure" + " bench gemm");
  CHECK(finding.table[13][2] == folder / "test_cuda" + " rungs* ");
  CHECK(finding.table[17][2] == folder / "test_cuda" + " a run of LeNet* ");
  CHECK(finding.table[10] ==
        std::vector<std::string>{"racecheck", "the ladder, sums in FP16", "RACECHECK SUMMARY: 1 hazard"});
}

TEST_CASE("gpu-check: the sanitizer goes on where the time of its part was over, and repeats what was bad") {
  const files::Folder folder;
  Setting setting{.programs = folder.path, .tests = folder.path, .scratch = folder.path, .part = "sanitizer"};
  write_script(folder.path / "compute-sanitizer", R"(
[ "$1" = --version ] && exit 0
echo "$*" >>"$(dirname "$0")/calls"
case "$*" in *gemm*)
  [ "$2" = memcheck ] || case "$*" in *--alone*) ;; *) echo 'of cuBLAS'; exit 9 ;; esac ;;
esac
[ ! -e "$(dirname "$0")/fault" ] || [ "$2" != synccheck ] || exit 9
)");
  const std::string path = folder.path.string() + ":" + std::getenv("PATH");
  const files::Environment first("PATH", path.c_str());
  const auto calls = [&] {
    std::ifstream in(folder.path / "calls");
    const auto lines = std::count(std::istreambuf_iterator<char>(in), {}, '\n');
    fs::remove(folder.path / "calls");
    return lines;
  };
  setting.end = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  const Finding late = lab::gpu_check::check_sanitizer(setting);
  CHECK(late.unfinished);
  CHECK(late.state == State::unfinished);
  CHECK(late.table[1][2] == "not reached: the time of the part is over");
  CHECK(lab::gpu_check::kept_rows(setting).empty());
  CHECK(calls() == 0);

  setting.end.reset();
  Finding before;
  for (const char* const name : {"memcheck, every op in FP16", "racecheck, every op in FP16"})
    lab::gpu_check::keep(before, setting,
                         {{"row", name}, {"good", name[0] == 'm'}, {"outcome", "of an earlier call"}});
  std::ofstream(folder.path / "fault") << "\n";
  const Finding rest = lab::gpu_check::check_sanitizer(setting);
  CHECK(calls() == 18);
  CHECK_FALSE(rest.unfinished);
  CHECK(rest.table[1][2] == "of an earlier call");
  CHECK(rest.summary.starts_with(
      "of 20 runs under a tool 6 end badly"));  // synccheck of five programs, and the bad one of before
  fs::remove(folder.path / "fault");
  CHECK(lab::gpu_check::check_sanitizer(setting).state == State::good);
  CHECK(calls() == 6);
  CHECK(lab::gpu_check::check_sanitizer(setting).data.size() == 20);
  CHECK(calls() == 0);
}

TEST_CASE(
    "gpu-check: a run under a tool that takes too long is no fault, and gets more time when it is repeated") {
  const files::Folder folder;
  const Setting setting{.programs = folder.path,
                        .tests = folder.path,
                        .scratch = folder.path,
                        .part = "sanitizer",
                        .patience = 0.02};  // 60 s are 1.2 s
  write_script(folder.path / "compute-sanitizer", R"(
[ "$1" = --version ] && exit 0
case "$2 $*" in
  'initcheck '*rungs*) exec sleep 2 ;;
esac
)");
  const std::string path = folder.path.string() + ":" + std::getenv("PATH");
  const files::Environment first("PATH", path.c_str());
  const Finding late = lab::gpu_check::check_sanitizer(setting);
  CHECK(late.state == State::unfinished);
  CHECK(late.unfinished);
  CHECK(late.summary.starts_with("of 20 runs under a tool 0 end badly, 1 took too long, 0 were not reached"));
  CHECK(late.table[16] ==
        std::vector<std::string>{"initcheck", "an eager step of each model", "no end after 1.2 s"});
  const Finding repeated = lab::gpu_check::check_sanitizer(setting);
  CHECK(repeated.state == State::good);
  CHECK_FALSE(repeated.unfinished);
}

TEST_CASE("gpu-check: what is left of a part's time is the most that a program gets") {
  Setting setting{.patience = 20};
  CHECK(setting.deadline(30) == 600);
  setting.end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  CHECK(setting.deadline(30) <= 5);
  setting.end = std::chrono::steady_clock::now() - std::chrono::seconds(5);
  CHECK(setting.deadline(30) <= 0);
}

TEST_CASE("gpu-check: a lesson that fails takes no other lesson's row with it") {
  const files::Folder folder;
  const Setting setting{
      .emulated = true, .programs = folder.path, .tests = folder.path, .scratch = folder.path};
  write_script(folder.path / "learn", "echo 'the kernel is faulty'; exit 1");
  const Finding finding = lab::gpu_check::check_lessons(setting);
  CHECK(finding.state == State::bad);
  REQUIRE(finding.table.size() == 2);
  CHECK(finding.table[1].front() == "train");
  CHECK(finding.table[1].back() == "lesson train: exit code 1: the kernel is faulty");
}

TEST_CASE("gpu-check: a lesson that takes too long ends nowhere else than on the CPU") {
  const files::Folder folder;
  const Setting setting{.emulated = true,
                        .programs = folder.path,
                        .tests = folder.path,
                        .scratch = folder.path,
                        .part = "lessons",
                        .patience = 0.01};  // 120 s are 1.2 s
  write_script(folder.path / "learn", "exec sleep 60");
  const Finding finding = lab::gpu_check::check_lessons(setting);
  CHECK(finding.state == State::unfinished);
  CHECK(finding.unfinished);
  CHECK(finding.summary == "1 of 1 lessons took too long, 0 were not reached");
  CHECK(finding.table[1] ==
        std::vector<std::string>{"train", "0", "0", "0.00", "0.00", "no end after 1.2 s"});
}

TEST_CASE("gpu-check: a lesson that was compared before the time was over is not run again") {
  const files::Folder folder;
  Setting setting{.emulated = true,
                  .programs = folder.path,
                  .tests = folder.path,
                  .scratch = folder.path,
                  .part = "lessons"};
  write_script(folder.path / "learn", "exec sleep 60");
  setting.end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const Finding cut_off = lab::gpu_check::check_lessons(setting);
  CHECK(cut_off.unfinished);
  CHECK(cut_off.state == State::unfinished);
  CHECK(cut_off.summary == "the time was over before 1 of 1 lessons");
  CHECK(lab::gpu_check::kept_rows(setting).empty());

  setting.end.reset();
  Finding before;
  lab::gpu_check::keep(before, setting,
                       {{"row", "train"}, {"good", true}, {"runs", 3}, {"apart", 0}, {"first_apart", ""}});
  write_script(folder.path / "learn", "exit 1");
  const Finding finding = lab::gpu_check::check_lessons(setting);
  CHECK(finding.state == State::good);
  CHECK(finding.table[1] == std::vector<std::string>{"train", "3", "3", "-", "-", ""});
}

TEST_CASE(
    "gpu-check: a kernel is launched so often that waiting for it counts little, for a tenth of a second") {
  const files::Environment emulated("TINYMP_EMULATE", "1");
  int calls = 0;
  const Setting on_gpu{};
  CHECK(lab::gpu_check::seconds_on_gpu(on_gpu, [&] { ++calls; }) >= 0);
  CHECK(calls == 2 + 5 * 1000);
  calls = 0;
  const auto slow = [&] {
    ++calls;
    std::this_thread::sleep_for(std::chrono::milliseconds(25));
  };
  CHECK(lab::gpu_check::seconds_on_gpu(on_gpu, slow) >= 0.025);
  CHECK(calls <= 2 + 5 * 4);
  calls = 0;
  lab::gpu_check::seconds_on_gpu({.emulated = true}, slow);
  CHECK(calls == 2 + 5);
}

TEST_CASE("gpu-check: a rung that dies leaves a row, and so do the others") {
  const files::Folder folder;
  const Setting setting{
      .emulated = true, .programs = folder.path, .tests = folder.path, .scratch = folder.path};
  write_script(folder.path / "measure", R"(
while [ $# -gt 1 ]; do
  case $1 in --out) out=$2 ;; --rung) rung=$2 ;; --format) format=$2 ;; esac
  shift
done
case $rung-$format in
  mma-f16) echo 'an illegal memory access'; exit 1 ;;
  *-f16) echo '{"cublas":{"why_not":"no"},"rows":[{"right":true,"milliseconds":2,"tflops":null,"share_of_cublas":0.5,"share_of_limit":null}]}' >"$out" ;;
  *) exit 2 ;;
esac
)");
  const Finding finding = lab::gpu_check::check_gemm(setting);
  CHECK(finding.state == State::bad);
  REQUIRE(finding.table.size() == 16);  // six rungs with each of two kinds of sums, and the three claims
  CHECK(finding.table[1] ==
        std::vector<std::string>{"f16", "f32", "naive", "2.000", "-", "50.0 %", "-", "-"});
  CHECK(finding.table[6] == std::vector<std::string>{"f16", "f32", "mma", "FAILED",
                                                     "exit code 1: an illegal memory access", "-", "-", "-"});
  CHECK(finding.summary == "2 of 12 measured rungs fail or are wrong");
  CHECK(finding.table[13][3] == "-");  // FP32 was not measured
}

TEST_CASE("gpu-check: what FP16 gains on a product comes from the fastest right rungs, and from cuBLAS") {
  const files::Folder folder;
  const Setting setting{.emulated = true,
                        .programs = folder.path,
                        .tests = folder.path,
                        .scratch = folder.path,
                        .part = "gemm"};
  // The fastest row in FP32 is wrong; FP16 with FP16 sums is not what is asked.
  write_script(folder.path / "measure", R"(
while [ $# -gt 1 ]; do
  case $1 in --out) out=$2 ;; --rung) rung=$2 ;; --format) format=$2 ;; --sums) sums=$2 ;; esac
  shift
done
right=true cublas=4
case $format-$sums-$rung in
  f16-f16-*) ms=0.001 ;;
  f16-f32-mma) ms=2 cublas=1 ;;
  f16-f32-*) ms=50 cublas=1.5 ;;
  f32-f32-naive) ms=100 ;;
  f32-f32-tiled) ms=9 ;;
  f32-f32-*) ms=1 right=false ;;
  *) exit 2 ;;
esac
echo '{"cublas":{"why_not":"","milliseconds":'$cublas'},"cublaslt":{"milliseconds":'$ms'},"rows":[{"right":'$right',"milliseconds":'$ms',"tflops":null,"share_of_cublas":null,"share_of_limit":null}]}' >"$out"
)");
  const Finding finding = lab::gpu_check::check_gemm(setting);
  const auto& rows = finding.table;
  CHECK(rows[rows.size() - 3] == std::vector<std::string>{"FP16 beside FP32", "math-bound, 64", "the ladder",
                                                          "4.50 times", "-", "-", "-", "-"});
  CHECK(rows[rows.size() - 2][3] == "4.00 times");
  CHECK(finding.data[finding.data.size() - 2]["gain"] == 4);
  CHECK(rows.back()[2] == "cuBLASLt");
  CHECK(finding.data.back()["gain"] == 0.5);  // 1 ms beside 2, although the rung of 1 ms is wrong
}

TEST_CASE("gpu-check: each kernel that moves data has a row at two sizes, and FP16's gain is of these rows") {
  const files::Environment emulated("TINYMP_EMULATE", "1");
  const files::Folder folder;
  const Finding finding =
      lab::gpu_check::check_memory({.emulated = true, .scratch = folder.path, .part = "memory"});
  CHECK(finding.state == State::good);
  std::map<std::string, std::vector<double>> seconds;
  std::vector<double> gains;
  for (const auto& row : finding.data) {
    if (row.contains("claim")) {
      gains.push_back(row["gain"]);
    } else {
      seconds[row["kernel"]].push_back(row["seconds"]);
    }
  }
  for (const char* const name :
       {"copy f32", "add f32", "add f16", "softmax f16", "softmax, dx f16", "layer norm f16",
        "layer norm, dx f16", "batch norm f16", "batch norm, dx f16", "max pool f16", "max pool, dx f16",
        "dropout f16", "embedding f16", "embedding, dtable f16", "cross-entropy and gradient f16",
        "quantize f16 to e4m3", "amax f16", "attention, softmax f32 to f16",
        "attention, softmax's errors f16"}) {
    INFO(name);
    CHECK(seconds[name].size() == 2);
  }
  REQUIRE(gains.size() == 2);
  for (std::size_t i = 0; i < 2; ++i) CHECK(gains[i] == seconds["add f32"][i] / seconds["add f16"][i]);
}

TEST_CASE("gpu-check: the sweep takes the highest rung that a product has, and keeps each row at once") {
  const files::Folder folder;
  const Setting setting{.emulated = true,
                        .programs = folder.path,
                        .tests = folder.path,
                        .scratch = folder.path,
                        .part = "sweep"};
  write_script(folder.path / "measure", R"(
while [ $# -gt 1 ]; do
  case $1 in --out) out=$2 ;; --rung) rung=$2 ;; --format) format=$2 ;; --m) m=$2 ;; --transposed) t=$2 ;; esac
  shift
done
case $rung-$format-$m-$t in
  mma-bf16-*) exit 2 ;;
  mma-f16-128-b) kill -SEGV $$ ;;
  *) echo '{"rows":[{"right":true,"milliseconds":0.5,"tflops":7,"share_of_cublas":0.25,"share_of_cublaslt":0.2}]}' >"$out" ;;
esac
)");
  const files::Environment emulated("TINYMP_EMULATE", "1");
  lab::gpu_check::forget_rows(setting);
  const Finding finding = lab::gpu_check::check_sweep(setting);
  CHECK(finding.state == State::bad);
  // Two sizes, three layouts, two formats; 8 convolutions; attention; FP8 in three layouts.
  const std::size_t rows = 12 + 22 + 3 + 6;
  REQUIRE(finding.table.size() == 1 + rows);
  CHECK(finding.table[1] == std::vector<std::string>{"square", "64,64,64", "none", "f16", "mma", "500.0",
                                                     "7.0", "25.0 %", "20.0 %"});
  CHECK(finding.table[2][4] == "wmma-stages");
  CHECK(finding.table[11][5] == "FAILED");
  CHECK(lab::gpu_check::kept_rows(setting) == finding.data);
  std::ofstream(folder.path / "sweep.jsonl", std::ios::app) << "{\"cut off\": ";
  CHECK(lab::gpu_check::kept_rows(setting).size() == rows);
  for (std::size_t i = 13; i < finding.table.size(); ++i) CHECK(finding.table[i][4].starts_with("mma"));
  CHECK(finding.table.back()[3] == "e5m2, e4m3");
  for (const char* const layout : {"none", "a", "b"})
    CHECK(std::ranges::count_if(finding.table, [&](const std::vector<std::string>& row) {
            return row[2] == layout && row[3] == "e4m3, e4m3";
          }) == 1);
  lab::gpu_check::forget_rows(setting);
  CHECK(lab::gpu_check::kept_rows(setting).empty());
}

TEST_CASE("gpu-check: products that the end of a part cuts off are not reached, and not wrong") {
  const files::Folder folder;
  const files::Environment emulated("TINYMP_EMULATE", "1");
  Setting setting{.emulated = true,
                  .programs = folder.path,
                  .tests = folder.path,
                  .scratch = folder.path,
                  .part = "sweep"};
  write_script(folder.path / "measure", "exec sleep 60");
  setting.end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const Finding sweep = lab::gpu_check::check_sweep(setting);
  CHECK(sweep.state == State::unfinished);
  CHECK(sweep.unfinished);
  CHECK(sweep.summary == "the time was over before 43 of 43 products");
  CHECK(sweep.table[1][5] == "not reached");
  CHECK(lab::gpu_check::kept_rows(setting).empty());
  setting.end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  const Finding gemm = lab::gpu_check::check_gemm(setting);
  CHECK(gemm.unfinished);
  CHECK(gemm.summary == "the time was over after 0 measurements of rungs, all right");
}

TEST_CASE("gpu-check: every model is timed before torch.compile takes its minutes, and each only once") {
  const files::Folder folder;
  const files::Environment emulated("TINYMP_EMULATE", "1");
  const fs::path python = folder.path / "python";
  write_script(python, R"(
while read -r request; do
  echo "$request" >>"$(dirname "$0")/requests"
  case $request in
    hello*) echo '{"version": "0", "built with": "nothing", "threads": 1}' ;;
    'model mlp') echo '{"parameters": 101770}' ;;
    model*) echo '{"parameters": 1}' ;;
    *) echo '{"seconds": 0}' ;;
  esac
done
)");
  const files::Environment pretended("TINYMP_PYTHON", python.c_str());
  const Setting setting{.emulated = true, .scratch = folder.path, .part = "speed"};
  const Finding finding = lab::gpu_check::check_speed(setting);
  CHECK(finding.state == State::good);
  std::vector<std::string> models;
  for (const auto& row : lab::gpu_check::kept_rows(setting))
    models.push_back(row.value("model", "") + (row.value("compiled", false) ? " compiled" : ""));
  CHECK(models == std::vector<std::string>{"mlp", "words", "decoder", "mlp compiled", "words compiled",
                                           "decoder compiled"});
  CHECK(finding.data.size() == 3);
  CHECK(finding.data[0].value("compiled", false));
  REQUIRE(finding.table.size() == 1 + 3 * 5);
  std::ifstream in(folder.path / "requests");
  const std::string asked(std::istreambuf_iterator<char>(in), {});
  REQUIRE(asked.find("+compile") != std::string::npos);
  CHECK(asked.find("+compile") > asked.find("model decoder"));
  fs::remove(folder.path / "requests");
  CHECK(lab::gpu_check::check_speed(setting).table == finding.table);
  CHECK_FALSE(fs::exists(folder.path / "requests"));
}

TEST_CASE("gpu-check: a sweep that was interrupted measures only what is missing or failed") {
  const files::Folder folder;
  const files::Environment emulated("TINYMP_EMULATE", "1");
  const Setting setting{.emulated = true,
                        .programs = folder.path,
                        .tests = folder.path,
                        .scratch = folder.path,
                        .part = "sweep"};
  lab::gpu_check::forget_rows_of_others(setting, "device and sources");
  write_script(folder.path / "measure", R"(
while [ $# -gt 1 ]; do
  case $1 in --out) out=$2 ;; --m) m=$2 ;; esac
  shift
done
echo "$m" >>"$(dirname "$0")/calls"
[ "$m" = 64 ] || exit 1
echo '{"rows":[{"right":true,"milliseconds":0.5,"tflops":7,"share_of_cublas":0.25}]}' >"$out"
)");
  const auto calls = [&] {
    std::ifstream in(folder.path / "calls");
    return std::count(std::istreambuf_iterator<char>(in), {}, '\n');
  };
  CHECK(lab::gpu_check::check_sweep(setting).state == State::bad);
  CHECK(calls() == 12);
  write_script(folder.path / "measure", R"(
while [ $# -gt 1 ]; do
  case $1 in --out) out=$2 ;; esac
  shift
done
echo again >>"$(dirname "$0")/calls"
echo '{"rows":[{"right":true,"milliseconds":0.1,"tflops":9,"share_of_cublas":0.5}]}' >"$out"
)");
  lab::gpu_check::forget_rows_of_others(setting, "device and sources");
  const Finding finding = lab::gpu_check::check_sweep(setting);
  CHECK(finding.state == State::good);
  CHECK(calls() == 18);  // the six of size 128
  CHECK(finding.table[1][5] == "500.0");
  CHECK(finding.table[12][5] == "100.0");
  lab::gpu_check::forget_rows_of_others(setting, "other sources");
  CHECK(lab::gpu_check::kept_rows(setting).empty());
}

TEST_CASE("gpu-check: good figures outlive a repetition that fails") {
  using lab::gpu_check::Part;
  const files::Folder folder;
  const std::array<Part, 1> parts{{{"launch", "Launches", nullptr, 1}}};
  const nlohmann::ordered_json head{{"device", "D"}, {"architecture", "sm_90"}, {"sources", "s"}};
  const fs::path path = folder.path / "d.json";
  const auto record = [&](State state, const char* summary) {
    return lab::gpu_check::record(path, head, parts, parts[0], {.state = state, .summary = summary}, 1);
  };
  CHECK_FALSE(record(State::good, "fast").contains("before"));
  CHECK(record(State::bad, "hangs")["before"]["summary"] == "fast");
  CHECK(record(State::unfinished, "was cut off")["before"]["summary"] == "fast");
  CHECK(record(State::bad, "hangs again")["before"]["summary"] == "fast");
  std::ifstream page(folder.path / "d.md");
  const std::string text{std::istreambuf_iterator<char>(page), {}};
  CHECK(text.find("BAD: hangs again.") != std::string::npos);
  CHECK(text.find(": fast\n") != std::string::npos);
  CHECK_FALSE(record(State::good, "fast again").contains("before"));
}

TEST_CASE("gpu-check: speed does not time a model once more that an interrupted run has timed") {
  const files::Folder folder;
  const files::Environment emulated("TINYMP_EMULATE", "1");
  const Setting setting{.emulated = true, .scratch = folder.path, .part = "speed"};
  Finding before;
  lab::gpu_check::keep(before, setting, {{"model", "mlp"}, {"fault", "an illegal memory access"}});
  lab::gpu_check::keep(before, setting,
                       {{"model", "mlp"}, {"head", {"model"}}, {"table", {{"timed before"}}}, {"gain", 2}});
  const Finding finding = lab::gpu_check::check_speed(setting);
  CHECK(finding.state == State::good);
  REQUIRE(finding.table.size() > 2);  // a row before, then those of the language model
  CHECK(finding.table[1] == std::vector<std::string>{"timed before"});
  CHECK(finding.table[2][0] == "LSTM of 64 words, 8 wide");
}

TEST_CASE("gpu-check: a damaged report is moved aside, not thrown away") {
  const files::Folder folder;
  const nlohmann::ordered_json head{{"device", "D"}, {"architecture", "sm_90"}, {"sources", "s"}};
  const fs::path path = folder.path / "d.json", aside = folder.path / "d.json.damaged";
  for (const char* const text : {"{\"device\": \"D\", \"par", "[]", "", "{\"device\":7,\"parts\":{}}",
                                 "{\"device\":\"D\",\"parts\":[1]}"}) {
    std::ofstream(path) << text;
    CHECK(lab::gpu_check::read_report(path, head)["device"] == "D");
    CHECK_FALSE(fs::exists(path));
    std::ifstream kept(aside);
    CHECK(std::string{std::istreambuf_iterator<char>(kept), {}} == text);
    fs::remove(aside);
  }
  CHECK_FALSE(lab::gpu_check::read_report(path, head).contains("earlier"));  // nothing is there
  CHECK_FALSE(fs::exists(aside));
}

}  // namespace tinymp::test
