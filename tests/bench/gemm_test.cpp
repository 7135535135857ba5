#include <kernels/emu/chip.h>
#include <lessons/lab/bench/gemm.h>
#include <stdlib.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>

// The harness of ./learn bench gemm, on a GPU that is not there: what it finds, what it computes, what it
// believes.
namespace tinymp::test {
namespace {

using namespace kernels;
using namespace kernels::bench;

/// Calls itself an H200, multiplies by emulation, takes as long as it is told, and has bugs on demand.
class Pretended : public Executor {
 public:
  enum class Bug { none, one_element, not_written, behind_row, other_rung };
  Bug bug = Bug::none;
  Rung buggy = Rung::tiled;
  double rung_time = 100, cublas_time = 25, cublas_lt_time = 20;
  bool with_cublas = true;
  std::optional<Yardstick> idle;  ///< computes nothing
  std::size_t l2 = 0;
  std::vector<const void*> timed;  ///< where the operands a of timed products lie, one after the other
  std::set<int> timed_parts;       ///< of their sums
  int most_parts = 0, library_calls = 0;

  Machine machine() const override {
    return {.name = "NVIDIA H200", .architecture = 90, .l2_bytes = l2, .free_bytes = std::size_t{1} << 30};
  }
  void* allocate(std::size_t bytes) override { return emulated_->allocate(bytes); }
  void release(void* memory) noexcept override { emulated_->release(memory); }
  void upload(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void download(void* to, const void* from, std::size_t bytes) override { std::memcpy(to, from, bytes); }
  void fill(void* to, int byte, std::size_t bytes) override { std::memset(to, byte, bytes); }

  Rung gemm(Rung wanted, const GemmProblem& p) override {
    if (timing_) timed.push_back(p.a), timed_parts.insert(p.parts);
    most_parts = std::max(most_parts, p.parts);
    time_ = rung_time;
    if (timing_) return wanted;  // one multiplication less
    const Bug has = wanted == buggy ? bug : Bug::none;
    auto* const c = static_cast<half*>(p.c);
    const half last = c[p.M * p.ldc - (p.ldc - p.N) - 1];
    emulated_->gemm(wanted, p);
    half& end = c[p.M * p.ldc - (p.ldc - p.N) - 1];
    if (has == Bug::one_element) end = half(static_cast<float>(end) + 1);
    if (has == Bug::not_written) end = last;
    if (has == Bug::behind_row && p.ldc > p.N) c[p.N] = half(0.0f);
    return has == Bug::other_rung ? Rung::naive : wanted;
  }
  void tiles(const TileBatch&) override {}
  YardstickLibrary& library(Yardstick which) override {
    return which == Yardstick::cublas ? cublas_ : cublas_lt_;
  }
  double milliseconds(const std::function<void()>& work) override {
    timing_ = true;
    work();
    timing_ = false;
    return time_;
  }

 private:
  class Library : public YardstickLibrary {
   public:
    Library(Pretended& gpu, Yardstick which) : gpu_(gpu), which_(which) {}
    std::string why_not() const override { return gpu_.with_cublas ? "" : "it is not there"; }
    std::string version() const override { return which_ == Yardstick::cublas ? "13.0.0" : "13.0.1"; }
    void gemm(const GemmProblem& p) override {
      ++gpu_.library_calls;
      gpu_.time_ = which_ == Yardstick::cublas ? gpu_.cublas_time : gpu_.cublas_lt_time;
      if (!gpu_.timing_ && which_ != gpu_.idle) gpu_.emulated_->gemm(Rung::naive, p);
    }

   private:
    Pretended& gpu_;
    Yardstick which_;
  };
  Library cublas_{*this, Yardstick::cublas}, cublas_lt_{*this, Yardstick::cublas_lt};
  std::unique_ptr<Executor> emulated_ = emulated_executor();
  bool timing_ = false;
  double time_ = 0;
};

GemmReport measure(Executor& executor, const GemmRequest& request) {
  return bench_gemm(executor, request, [](const std::string&) {});
}
GemmRequest request_of(int size, std::optional<Rung> rung) {
  return {.shape = {.M = size, .N = size, .K = size}, .rung = rung, .results = "/nowhere"};
}

TEST_CASE("bench gemm: every rung is right under emulation, and no time of it is reported") {
  const auto emulated = emulated_executor();
  const GemmReport report = measure(*emulated, request_of(48, {}));
  CHECK(report.good());
  REQUIRE(report.rows.size() == ladder.size());
  for (const GemmRow& row : report.rows) {
    INFO(row.rung << " " << row.fault << row.left_out);
    // Integers and fractions; ragged in 4 transpositions with rows at multiples of 16, 4 and 2 bytes where the rung takes
    // these, and this.
    const int alignments = rules_of(row.rung).stride_bytes == 16 ? 1 : 3;
    CHECK(row.products == 2 * (6 * 4 * alignments + 1));
    CHECK(row.fault.empty());
    CHECK_FALSE(row.run_on_gpu);
  }
  const auto json = report.json();
  CHECK(json["emulated"] == true);
  CHECK(json["rows"].size() == ladder.size());
  for (const auto& row : json["rows"]) CHECK((row["milliseconds"].is_null() && row["right"] == true));
}

TEST_CASE("bench gemm: a chip's own rounding is not taken for a fault") {
  const auto emulated = emulated_executor();
  emu::machine::use_chip(Gpu::v100);  // which cuts off most
  GemmRequest request = request_of(64, Rung::wmma_tiled);
  request.shape.K = 300;
  const GemmReport f32 = measure(*emulated, request);
  request.shape.sums = Sums::f16;
  const GemmReport f16 = measure(*emulated, request);
  emu::machine::use_chip({});
  INFO(f32.rows[0].fault << f16.rows[0].fault);
  CHECK((f32.good() && f16.good()));
}

TEST_CASE("bench gemm: what a wrong kernel does is found, and it is not timed") {
  using Bug = Pretended::Bug;
  for (const auto& [bug, says] : {std::pair{Bug::one_element, "c(0,0) is "},
                                  {Bug::not_written, "c(0,0) is "},
                                  {Bug::behind_row, "something was written behind row 0 of c"},
                                  {Bug::other_rung, "naive ran instead"}}) {
    Pretended gpu;
    gpu.bug = bug;
    const GemmReport report = measure(gpu, request_of(32, Rung::tiled));
    CHECK_FALSE(report.good());
    const GemmRow& tiled = report.rows[0];
    CHECK(tiled.fault.find(says) != std::string::npos);
    CHECK(tiled.fault.find("(1,1) = (1,1) (1,1), f16 with sums in f32: ") == 0);
    CHECK(tiled.milliseconds == 0);
    CHECK(report.notes().find("tiled is WRONG: (1,1)") == 0);
    CHECK(report.table().rows[0][6] == "WRONG");
    CHECK(report.json()["rows"][0]["right"] == false);
  }
  Pretended gpu;
  gpu.bug = Bug::one_element;
  const GemmReport report = measure(gpu, request_of(16, {}));  // the other rungs go on
  CHECK_FALSE(report.good());
  CHECK((report.rows[0].milliseconds > 0 && report.rows[1].milliseconds == 0 &&
         report.rows[2].milliseconds > 0));
}

TEST_CASE("bench gemm: rates and shares") {
  Pretended gpu;
  const GemmReport report = measure(gpu, request_of(64, Rung::mma));
  REQUIRE(report.rows.size() == 1);
  const GemmRow& row = report.rows[0];
  CHECK(row.milliseconds == 100);
  CHECK(row.runs == 5);
  CHECK(row.tflops == Approx(2.0 * 64 * 64 * 64 / 0.1 / 1e12));
  CHECK(row.shares == std::array{0.25, 0.2});
  CHECK(report.limit.tflops == 989);
  CHECK(row.limit_share == Approx(row.tflops / 989));
  const report::Table table = report.table();
  CHECK(table.rows[0][3] == "25.0 %");
  CHECK(table.rows[0].back() == "UNTESTED ON HARDWARE");
  CHECK(table.rows[0][4] == "20.0 %");
  CHECK(table.rows[1][0] == "cuBLAS");
  CHECK(table.rows[1][4] == "80.0 %");
  CHECK(table.rows[2][0] == "cuBLASLt");
  CHECK(report.notes().find("cuBLAS 13.0.0, with the same accumulator.\ncuBLASLt 13.0.1, with") !=
        std::string::npos);
  CHECK(report.json()["cublaslt"]["milliseconds"] == 20);
  CHECK(report.json()["rows"][0]["share_of_cublaslt"] == 0.2);

  gpu.idle = Yardstick::cublas_lt;
  const GemmReport faulty = measure(gpu, request_of(64, Rung::mma));
  CHECK(faulty.rows[0].shares == std::array{0.25, 0.0});
  CHECK(faulty.notes().find("No share of cuBLASLt: as it is called here it is wrong: ") != std::string::npos);

  gpu.with_cublas = false;
  const GemmReport without = measure(gpu, request_of(64, Rung::mma));
  CHECK(without.rows[0].shares == std::array{0.0, 0.0});
  CHECK(without.table().rows[0][3] == "-");
  CHECK(without.notes() ==
        "The limit: 989 TFLOP/s (NVIDIA H200 data sheet).\nNo share of cuBLAS: it is not there.\n"
        "No share of cuBLASLt: it is not there.\n");
  CHECK(without.json()["rows"][0]["share_of_cublas"].is_null());
}

TEST_CASE("bench gemm: operands take turns, so that those of one run are out of the cache at the next") {
  Pretended gpu;
  gpu.l2 = 100'000;  // a product of 64 x 64 x 64 in FP16 has 24,576 bytes
  measure(gpu, request_of(64, Rung::naive));
  const std::set<const void*> different(gpu.timed.begin(), gpu.timed.end());
  CHECK(different.size() >= 7);  // as many as there are runs: 2 to begin with, 5 that count
  for (std::size_t i = 1; i < gpu.timed.size(); ++i) CHECK(gpu.timed[i] != gpu.timed[i - 1]);
}

TEST_CASE("bench gemm: a rung that splits sums is compared and timed as training runs it") {
  Pretended gpu;
  GemmRequest request = request_of(64, Rung::mma);
  request.shape.N = 120, request.shape.K = 400;  // LeNet's first layer: 4 tiles, 3 times 128 terms
  const GemmReport split = measure(gpu, request);
  INFO(split.notes());
  CHECK(split.good());
  CHECK(gpu.timed_parts == std::set{3});
  CHECK(split.rows[0].parts == 3);
  CHECK(split.json()["rows"][0]["parts"] == 3);
  CHECK(split.json()["rows"][0]["rung"] == "mma");
  CHECK(split.table().rows[0][0] == "mma, 3 parts");
  gpu.timed_parts.clear();
  for (const Rung whole : {Rung::wmma_stages, Rung::tiled}) {
    request.rung = whole;
    CHECK(measure(gpu, request).rows[0].parts == 1);
  }
  CHECK(gpu.timed_parts == std::set{1});
  gpu.most_parts = 0;  // of the small shapes that come first, one is split
  measure(gpu, request_of(64, Rung::mma));
  CHECK(gpu.most_parts == 2);
}

TEST_CASE("bench gemm: alone it leaves NVIDIA's libraries out") {
  Pretended gpu;
  GemmRequest request = request_of(32, Rung::tiled);
  request.alone = true;
  const GemmReport report = measure(gpu, request);
  CHECK(gpu.library_calls == 0);
  CHECK(report.good());
  CHECK(report.rows[0].milliseconds == 100);
  CHECK(report.notes().find("No share of cuBLAS: left out, as --alone asks.") != std::string::npos);
  request.alone = false;
  measure(gpu, request);
  CHECK(gpu.library_calls > 0);
}

TEST_CASE("bench gemm: what a rung does not take") {
  const auto emulated = emulated_executor();
  GemmRequest request = request_of(32, {});
  request.shape.format = Format::f32;
  const GemmReport report = measure(*emulated, request);
  CHECK(report.good());
  CHECK(report.rows[0].left_out.empty());
  CHECK(report.rows[5].left_out.find("mma does not take f32 operands") != std::string::npos);
  CHECK(report.rows[5].products == 0);
  request.rung = Rung::mma;
  CHECK_SAYS("mma does not take f32 operands", measure(*emulated, request));
  request = request_of(33, Rung::wmma_naive);
  CHECK_SAYS("does not take these sizes", measure(*emulated, request));
}

TEST_CASE("bench gemm: reports say which rungs have run on a GPU") {
  namespace fs = std::filesystem;
  std::string folder = (fs::temp_directory_path() / "tinymp_results_XXXXXX").string();
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  const auto write = [&](const std::string& name, const std::string& text) {
    std::ofstream(folder + "/" + name) << text;
  };
  const std::string rows =
      R"("rows": [{"rung": "naive", "right": true}, {"rung": "tiled", "right": false}, {"rung": "wgmma", "right": true}])";
  write("note.txt", "none");
  write("emulated.json", R"({"bench": "gemm", "emulated": true, "rows": [{"rung": "mma", "right": true}]})");
  CHECK(rungs_run_on_gpu(folder).empty());
  write("h200.json",
        R"({"date": "x", "parts": [{"bench": "copy", "rows": []}, {"bench": "gemm", "emulated": false, )" +
            rows + "}]}");
  CHECK(rungs_run_on_gpu(folder) == std::vector<Rung>{Rung::naive});

  Pretended gpu;
  GemmRequest request = request_of(16, {});
  request.results = folder;
  const GemmReport report = measure(gpu, request);
  CHECK(report.rows[0].run_on_gpu);
  CHECK_FALSE(report.rows[1].run_on_gpu);
  CHECK(report.table().rows[0].back().empty());
  CHECK(report.table().rows[1].back() == "UNTESTED ON HARDWARE");

  write("own.json", report.json().dump());  // what is written is read again
  CHECK(rungs_run_on_gpu(folder).size() == 1 + ladder.size());
  CHECK(untested_mark(folder, "memory").starts_with("UNTESTED ON HARDWARE"));
  write("emulated-gpu.json", R"({"device": "emulated GPU", "parts": {"memory": {"state": "good"}}})");
  write("bad.json", R"({"device": "NVIDIA H200", "parts": {"memory": {"state": "BAD"}}})");
  CHECK_FALSE(part_run_on_gpu(folder, "memory"));
  write("good.json", R"({"device": "NVIDIA H200", "parts": {"memory": {"state": "good"}}})");
  CHECK(untested_mark(folder, "memory").empty());
  CHECK_FALSE(part_run_on_gpu(folder, "sweep"));

  write("broken.json", "{");
  CHECK_SAYS("broken.json is no JSON", rungs_run_on_gpu(folder));
  fs::remove_all(folder);
}

TEST_CASE("limits: data sheets by name, else SMs, clock and operations") {
  const auto tflops = [](const char* name, int architecture, Format format) {
    return limit_of({.name = name, .architecture = architecture, .multiprocessors = 132, .clock = 1.83e9},
                    format, Sums::f32)
        .tflops;
  };
  CHECK(tflops("NVIDIA H100 80GB HBM3", 90, Format::f16) == 989);
  CHECK(tflops("NVIDIA H100 PCIe", 90, Format::bf16) == 756);
  CHECK(tflops("NVIDIA A100-SXM4-80GB", 80, Format::f16) == 312);
  CHECK(tflops("NVIDIA A10", 86, Format::f16) == 125);
  CHECK(tflops("NVIDIA A10G", 86, Format::f16) != 125);
  CHECK(tflops("NVIDIA H100 80GB HBM3", 90, Format::f32) == Approx(61.8).epsilon(0.01));
  // The two agree where both are known.
  CHECK(tflops("some H100", 90, Format::f16) == Approx(989).epsilon(0.01));
  CHECK(tflops("NVIDIA X", 999, Format::f16) == 0);
  CHECK(limit_of({.name = "emulated GPU", .emulated = true, .architecture = 90}, Format::f16, Sums::f32)
            .tflops == 0);
}

}  // namespace
}  // namespace tinymp::test
