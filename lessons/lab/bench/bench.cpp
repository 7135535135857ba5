#include <unistd.h>

#include <lessons/lab/bench/gemm.h>
#include <lessons/lab/bench/measure.h>
#include <lessons/lab/learn/command_line.h>
#include <tinymp/train/provenance.h>
#include <CLI/CLI.hpp>
#include <array>
#include <iostream>

// ./learn bench: chooses the measurement; and bench gemm, which an emulated GPU can do in part.
namespace tinymp::lab {
namespace {

using namespace kernels;

// ./learn bench gemm
// -----------------------------------------------------------------------------------------------

struct GemmFlags {
  std::string rung, format = "f16", sums = "f32", transposed = "none", out;
  int size = 0, m = 0, n = 0, k = 0;
  bool plain = false, count = false, alone = false;
};

constexpr int usual_size = 4096, emulated_size = 64, counted_size = 128, largest_counted = 1024,
              largest_size = 65536;

void add_flags(CLI::App& app, GemmFlags& flags) {
  const auto size = [&](const char* name, int& value, const char* what) {
    app.add_option(name, value, what)->type_name("N")->check(whole(1, largest_size));
  };
  const auto choice = [&](const char* name, std::string& value, const char* what,
                          std::vector<std::string> of) {
    app.add_option(name, value, what)
        ->type_name("NAME")
        ->check(CLI::IsMember(std::move(of)).description(""))
        ->capture_default_str();
  };
  app.add_option("--rung", flags.rung, "One rung only: naive, tiled, wmma-naive, ... (all)")
      ->type_name("NAME");
  size("--size", flags.size, "M, N and K (4096; emulated 64; counted 128)");
  size("--m", flags.m, "M alone");
  size("--n", flags.n, "N alone");
  size("--k", flags.k, "K alone");
  choice("--format", flags.format, "Of a, b and c: f16, bf16 or f32", {"f16", "bf16", "f32"});
  choice("--sums", flags.sums, "Of the running sum: f32 or f16", {"f32", "f16"});
  choice("--transposed", flags.transposed, "none, a, b or both", {"none", "a", "b", "both"});
  app.add_flag("--count", flags.count, "Count what each rung asks of memory, on the emulated GPU");
  app.add_flag("--alone", flags.alone, "Without cuBLAS and cuBLASLt, as under compute-sanitizer");
  app.add_option("--out", flags.out, "Write the figures as JSON, with device, driver, date, commit")
      ->type_name("FILE");
  app.add_flag("--plain", flags.plain, "ASCII only, no colour");
  app.footer(
      "Before a rung is timed its results are compared with sums in double, on ragged sizes and on what is\n"
      "asked for. Times are medians of single runs. Up to 64 products take turns, so that large ones find "
      "nothing\n"
      "in the cache; small ones all fit into it.\n"
      "--count tells sectors of global memory and bank conflicts of shared memory, without a GPU.\n"
      "TINYMP_EMULATE=1 (or v100, a100, ada, h100, h200, b200) runs the kernels on the CPU.\n\n"
      "Example:\n"
      "  ./learn bench gemm --rung mma --format bf16 --out mma.json");
}

bench::GemmRequest request_of(const GemmFlags& flags, int usual) {
  bench::GemmRequest request;
  const auto size = [&](int own) { return own > 0 ? own : flags.size > 0 ? flags.size : usual; };
  bench::GemmShape& shape = request.shape;
  shape.M = size(flags.m);
  shape.N = size(flags.n);
  shape.K = size(flags.k);
  shape.format = flags.format == "f32" ? Format::f32 : flags.format == "f16" ? Format::f16 : Format::bf16;
  shape.sums = flags.sums == "f32" ? Sums::f32 : Sums::f16;
  shape.ta = flags.transposed == "a" || flags.transposed == "both" ? Trans::yes : Trans::no;
  shape.tb = flags.transposed == "b" || flags.transposed == "both" ? Trans::yes : Trans::no;
  if (!flags.rung.empty()) request.rung = rung_from_name(flags.rung);
  if (shape.format == Format::bf16 && shape.sums == Sums::f16)
    throw UsageError("--sums f16 goes with --format f16 and f32; sums of bf16 products are kept in FP32");
  request.results = TINYMP_BENCH_RESULTS;
  request.alone = flags.alone;
  return request;
}

void print(const bench::GemmReport& report, const report::TerminalStyle& style) {
  const bench::Machine& machine = report.machine;
  std::cout << machine.name << ", sm_" << machine.architecture;
  if (!machine.driver.empty()) std::cout << ", driver for CUDA " << machine.driver;
  std::cout << "\n"
            << text_of(report.shape) << "\n\n"
            << report::format_table(report.table(), style) << "\n"
            << report.notes();
}

void write(const std::string& path, const bench::GemmReport& report, const std::string& command) {
  nlohmann::ordered_json json = report.json();
  json["command"] = command;
  json["date"] = train::utc_now();
  json["commit"] = train::build_commit();
  json["compiler"] = train::compiler_name();
  write_json(path, json);
}

int count(const GemmFlags& flags) {
  if (!flags.out.empty()) throw UsageError("--count writes no file: --out is for times");
  const bench::GemmShape shape = request_of(flags, counted_size).shape;
  for (const int size : {shape.M, shape.N, shape.K}) {
    if (size > largest_counted)
      throw UsageError(concat("--count takes sizes up to ", largest_counted,
                              ", since it emulates each thread; not ", size));
  }
  std::vector<std::string> product{
      std::to_string(shape.M), std::to_string(shape.N), std::to_string(shape.K), flags.format, flags.sums,
      flags.transposed};
  if (!flags.rung.empty()) product.push_back(flags.rung);
  return bench_count(product, text_of(shape), flags.plain);
}

int gemm(int argc, char** argv) {
  GemmFlags flags;
  CLI::App app("The GEMM ladder: each rung against sums in double, then against the clock and cuBLAS.",
               "./learn bench gemm");
  add_flags(app, flags);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  request_of(flags, usual_size);  // reports wrong use also where there is no GPU
  if (flags.count) return count(flags);
  const std::unique_ptr<bench::Executor> gpu = bench::executor();
  const bool watched = isatty(STDERR_FILENO) != 0;
  const bench::GemmReport report =
      bench::bench_gemm(*gpu, request_of(flags, gpu->machine().emulated ? emulated_size : usual_size),
                        [&](const std::string& next) {
                          if (watched) std::cerr << next << "\n";
                        });
  print(report, report::terminal_style(STDOUT_FILENO, flags.plain));
  if (!flags.out.empty()) write(flags.out, report, typed("./learn bench gemm", argc, argv));
  return report.good() ? 0 : 1;
}

struct Measurement {
  const char* name;
  int (*run)(int argc, char** argv);
};
constexpr std::array<Measurement, 6> measurements = {{{"cpu-gemm", bench_cpu_gemm},
                                                      {"steps", bench_steps},
                                                      {"telemetry", bench_telemetry},
                                                      {"ranks", bench_ranks},
                                                      {"micro", bench_micro},
                                                      {"gemm", gemm}}};

}  // namespace

int bench_command(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  if (name.empty() || name[0] == '-') return bench_all(argc, argv);
  std::string names;
  for (const Measurement& measurement : measurements) {
    if (name == measurement.name) return measurement.run(argc - 1, argv + 1);
    names += concat(names.empty() ? "" : ", ", measurement.name);
  }
  throw UsageError(
      concat("there is no measurement '", name, "'; there are: ", names, " (see ./learn bench --help)"));
}

}  // namespace tinymp::lab
