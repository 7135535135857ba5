#include <lessons/lab/bench/gemm.h>
#include <tinymp/base/error.h>
#include <algorithm>

namespace tinymp::kernels::bench {
namespace {

using Progress = std::function<void(const std::string&)>;

constexpr std::int64_t samples = 4096;

/// Products as training has them (kernels/cuda/gemm.cuh): a rung that splits sums gets as many parts as are useful. All
/// products of one shape share the room for the sums of the parts, since one runs after the other.
class Trained {
 public:
  Trained(Executor& executor, Rung rung, const GemmProblem& like)
      : executor_(&executor), rung_(rung), parts_(rules_of(rung).splits ? useful_parts(like) : 1) {
    GemmProblem split = like;
    split.parts = parts_;
    if (parts_ > 1) sums_.emplace(executor, sizeof(float) * static_cast<std::size_t>(sums_of_parts(split)));
  }
  int parts() const { return parts_; }
  Rung run(GemmProblem problem) const {
    problem.parts = parts_;
    if (sums_) problem.part_sums = static_cast<float*>(sums_->data());
    return executor_->gemm(rung_, problem);
  }

 private:
  Executor* executor_;
  Rung rung_;
  int parts_;
  std::optional<Memory> sums_;
};

/// Why the rung does not take the request; empty when it does.
std::string refusal(const Executor& executor, Rung rung, const GemmProblem& problem) {
  try {
    const Rung instead = rung_for(rung, problem, executor.machine().architecture);
    return instead == rung ? ""
                           : concat("gemm: ", rung, " does not take these sizes; ", instead, " would run");
  } catch (const Error& error) {
    return error.what();
  }
}

/// Small shapes of sizes that fill no tile, as far as the rung allows; rows as close as it allows, too; a classifier's
/// head, and a long sum, which is split.
std::vector<GemmShape> small_shapes(Rung rung, const GemmShape& like) {
  const int unit = rules_of(rung).multiple_of;
  const auto fitting = [&](int n) { return (n + unit - 1) / unit * unit; };
  std::vector<GemmShape> shapes;
  for (const auto& [M, N, K] :
       {std::array{1, 1, 1}, {37, 29, 45}, {130, 9, 33}, {5, 135, 100}, {64, 10, 128}, {17, 11, 300}}) {
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        for (const int row_bytes : {16, 4, 2}) {
          const int value_bytes = like.format == Format::f32 ? 4 : 2;
          if (row_bytes < std::max(rules_of(rung).stride_bytes, value_bytes)) continue;
          shapes.push_back({fitting(M), fitting(N), fitting(K), like.format, like.sums, ta, tb, row_bytes});
        }
      }
    }
  }
  return shapes;
}

std::string fault_of(Executor& executor, Rung rung, const GemmShape& shape, Values values, int gap) {
  GemmCase product(executor, shape, values, gap);
  product.poison();
  const Rung ran = Trained(executor, rung, product.problem()).run(product.problem());
  std::string fault = ran == rung ? product.fault(samples) : concat(ran, " ran instead");
  return fault.empty() ? "" : text_of(shape) + ": " + fault;
}

void check(Executor& executor, const GemmShape& asked, GemmRow& row) {
  std::vector<GemmShape> shapes = small_shapes(row.rung, asked);
  shapes.push_back(asked);
  for (const GemmShape& shape : shapes) {
    for (const Values values : {Values::integers, Values::uniform}) {
      if (values == Values::integers && !exact(shape)) continue;
      try {
        row.fault = fault_of(executor, row.rung, shape, values, &shape == &shapes.back() ? 0 : 3);
      } catch (const UsageError&) {
        throw;
      } catch (const Error& error) {  // the next rung may still be right
        row.fault = concat(text_of(shape), ": ", error.what());
      }
      if (!row.fault.empty()) return;
      ++row.products;
    }
  }
}

/// Makes so many products of one shape that no run finds its operands in the L2 cache: between two runs of one product lie
/// others with twice its size. But 64 are the most. Those of small shapes stay in the cache all the same, as they do in a
/// step, where the kernel before has just written them: on an H200 (50 MB) products of up to about 360 x 360 x 360 in FP16.
std::vector<GemmCase> rotation(Executor& executor, const GemmShape& shape) {
  const Machine machine = executor.machine();
  const std::size_t element = shape.format == Format::f32 ? 4 : 2;
  const auto elements = [](int rows, int cols) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(cols);
  };
  const std::size_t each =
      element * (elements(shape.M, shape.K) + elements(shape.K, shape.N) + elements(shape.M, shape.N));
  const std::size_t wanted = 2 + 2 * machine.l2_bytes / each;
  const std::size_t room = std::max<std::size_t>(1, machine.free_bytes / 2 / each);
  std::vector<GemmCase> products;
  for (std::size_t i = 0; i < std::min({wanted, room, std::size_t{64}}); ++i)
    products.emplace_back(executor, shape, Values::uniform, 0);
  return products;
}

struct Timing {
  double milliseconds;
  int runs;
};

/// Median of single runs, over about a quarter of a second and at least 5 of them.
Timing time(Executor& executor, const std::vector<GemmCase>& products,
            const std::function<void(const GemmProblem&)>& run) {
  std::size_t next = 0;
  const auto once = [&] {
    const GemmProblem& problem = products[next++ % products.size()].problem();
    return executor.milliseconds([&] { run(problem); });
  };
  if (executor.machine().emulated) return {once(), 1};
  once();  // loads the kernel
  const double first = once();
  const int runs = std::clamp(static_cast<int>(std::clamp(250 / std::max(first, 1e-3), 0.0, 1000.0)), 5, 200);
  std::vector<double> times;
  for (int i = 0; i < runs; ++i) times.push_back(once());
  std::ranges::nth_element(times, times.begin() + runs / 2);
  return {times[static_cast<std::size_t>(runs / 2)], runs};
}

void time_library(Executor& executor, YardstickLibrary& library, const GemmShape& shape, YardstickRow& row,
                  const std::vector<GemmCase>& products) {
  row.why_not = library.why_not();
  if (row.why_not.empty() && shape.format == Format::f32 && shape.sums == Sums::f16)
    row.why_not = "it has no FP16 sums of FP32 operands";
  if (!row.why_not.empty()) return;
  row.version = library.version();
  try {
    GemmCase product(executor, shape, exact(shape) ? Values::integers : Values::uniform, 0);
    product.poison();
    library.gemm(product.problem());
    const std::string fault = product.fault(samples);
    expect(fault.empty(), "as it is called here it is wrong: ", text_of(shape), ": ", fault);
    row.milliseconds =
        time(executor, products, [&](const GemmProblem& problem) { library.gemm(problem); }).milliseconds;
  } catch (const Error& error) {  // the rungs have figures of their own
    row.why_not = error.what();
  }
}

}  // namespace

GemmReport bench_gemm(Executor& executor, const GemmRequest& request, const Progress& progress) {
  GemmReport report{.machine = executor.machine(), .shape = request.shape};
  report.limit = limit_of(report.machine, request.shape.format, request.shape.sums);
  const std::vector<Rung> run_on_gpu = rungs_run_on_gpu(request.results);
  std::vector<GemmCase> products = rotation(executor, request.shape);
  for (std::size_t i = 0; i < ladder.size(); ++i) {
    GemmRow row{.rung = static_cast<Rung>(i)};
    if (request.rung && *request.rung != row.rung) continue;
    row.left_out = refusal(executor, row.rung, products[0].problem());
    if (request.rung && !row.left_out.empty()) throw UsageError(row.left_out);
    row.run_on_gpu = std::ranges::find(run_on_gpu, row.rung) != run_on_gpu.end();
    if (row.left_out.empty()) {
      progress(concat(row.rung, ": compared with sums in double"));
      check(executor, request.shape, row);
    }
    report.rows.push_back(row);
  }
  for (std::size_t i = 0; i < yardsticks.size(); ++i) {
    if (request.alone) {
      report.beside[i].why_not = "left out, as --alone asks";
      continue;
    }
    progress(name_of(yardsticks[i]));
    time_library(executor, executor.library(yardsticks[i]), request.shape, report.beside[i], products);
  }
  for (GemmRow& row : report.rows) {
    if (!row.left_out.empty() || !row.fault.empty()) continue;
    progress(concat(row.rung, ": timed"));
    const Trained trained(executor, row.rung, products[0].problem());
    const Timing timing = time(executor, products, [&](const GemmProblem& problem) { trained.run(problem); });
    row.parts = trained.parts();
    row.milliseconds = timing.milliseconds;
    row.runs = timing.runs;
    row.tflops = report.rate(row.milliseconds);
    for (std::size_t i = 0; i < yardsticks.size(); ++i)
      row.shares[i] = report.beside[i].milliseconds / row.milliseconds;
    if (report.limit.tflops > 0) row.limit_share = row.tflops / report.limit.tflops;
  }
  return report;
}

bool GemmReport::good() const {
  const auto ran = [](const GemmRow& row) { return row.products > 0; };
  return std::ranges::any_of(rows, ran) &&
         std::ranges::all_of(rows, [](const GemmRow& row) { return row.fault.empty(); });
}

}  // namespace tinymp::kernels::bench
