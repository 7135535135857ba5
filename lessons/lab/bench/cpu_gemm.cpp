#include <lessons/lab/bench/cpu_gemm.h>
#include <lessons/lab/bench/fma_peak.h>
#include <tinymp/base/error.h>
#include <tinymp/base/parallel_for.h>
#include <cmath>

namespace tinymp::kernels::bench {
namespace {

std::string request_of(const ProductShape& shape, DType format) {
  return concat(shape.M, " ", shape.N, " ", shape.K, " ", shape.ta == Trans::yes ? 1 : 0, " ",
                shape.tb == Trans::yes ? 1 : 0, " ", format);
}

/// The first sampled element that differs; empty when there is none. `slack` is relative: 0 where every order
/// of the sum gives the same.
std::string difference(const std::vector<double>& got, const std::vector<double>& wanted, double slack) {
  if (got.size() != wanted.size()) return "it gives another number of elements";
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (std::fabs(got[i] - wanted[i]) <= slack * (1 + std::fabs(wanted[i]))) continue;
    return concat("an element is ", got[i], " and should be ", wanted[i]);
  }
  return "";
}

/// Other libraries may add up 16-bit products in 16 bits and round on the way.
double slack_of(DType format) { return format == DType::f32 ? 0 : format == DType::f16 ? 0x1p-6 : 0x1p-5; }

std::string fault_of(const CpuProduct& product, ProductFormat format) {
  product.poison(format.values);
  product.multiply(format);
  return difference(product.samples(format.values), product.expected(format), 0);
}

void sgemm(const OpenBlas& openblas, const ProductShape& shape, const CpuProduct& product) {
  openblas.sgemm(shape.ta == Trans::yes, shape.tb == Trans::yes, shape.M, shape.N, shape.K,
                 product.a(DType::f32).data<float>(), product.b(DType::f32).data<float>(),
                 product.c(DType::f32).data<float>());
}

std::string why_no_openblas(const OpenBlas& openblas, const ProductShape& shape, const CpuProduct& product) {
  if (!openblas.why_not().empty()) return openblas.why_not();
  product.poison(DType::f32);
  sgemm(openblas, shape, product);
  return difference(product.samples(DType::f32), product.expected(product_formats[0]), 0);
}

std::string why_no_pytorch(PyTorch& pytorch, const ProductShape& shape, ProductFormat format,
                           const CpuProduct& product) {
  if (!pytorch.why_not().empty()) return pytorch.why_not();
  if (format.sums == DType::f16) return "it has no FP16 sums to choose";
  try {
    const auto values =
        pytorch.ask<std::vector<double>>(concat("product ", request_of(shape, format.values)), "values");
    return difference(values, product.expected(format), slack_of(format.values));
  } catch (const Error& error) {
    return error.what();
  }
}

/// Times all formats of one shape, and all libraries, in one race.
class ShapeRace {
 public:
  ShapeRace(const OpenBlas& openblas, PyTorch& pytorch, const ProductShape& shape) : product_(shape) {
    const std::string no_openblas = why_no_openblas(openblas, shape, product_);
    for (const ProductFormat format : product_formats) {
      CpuGemmRow row{.shape = shape, .format = format};
      row.fault = fault_of(product_, format);
      row.no_openblas = no_openblas;
      row.no_pytorch = why_no_pytorch(pytorch, shape, format, product_);
      rows_.push_back(row);
    }
    for (std::size_t i = 0; i < rows_.size(); ++i) add_row(pytorch, i);
    if (no_openblas.empty()) {
      add("OpenBLAS", &openblas_,
          [&, shape](int runs) { return seconds_of([&] { sgemm(openblas, shape, product_); }, runs); });
    }
    if (!shape.name.empty() || fma_loops().empty()) return;
    add("FMA", &peak_, [](int runs) {
      wait_for_threads();
      return fma_seconds(fma_loops().back(), threads(), std::int64_t{runs} * peak_rounds) / runs;
    });
  }

  std::vector<CpuGemmRow> run(const RaceRules& rules) {
    const std::vector<Timing> timings = race(contenders_, rules);
    for (std::size_t i = 0; i < timings.size(); ++i) *results_[i] = timings[i];
    for (CpuGemmRow& row : rows_) {
      row.openblas = openblas_;
      if (!row.ours.fault.empty()) row.fault = row.ours.fault;
      if (!row.openblas.fault.empty()) row.no_openblas = row.openblas.fault;
      if (!row.pytorch.fault.empty()) row.no_pytorch = row.pytorch.fault;
      if (row.ours.median > 0) row.of_fp32 = rows_[0].ours.median / row.ours.median;
      if (peak_.median > 0)
        row.peak = 1e-9 * threads() * fma_loops().back().operations * peak_rounds / peak_.median;
    }
    return rows_;
  }

 private:
  static constexpr std::int64_t peak_rounds = 1000;

  void add(std::string name, Timing* result, std::function<double(int)> seconds) {
    contenders_.push_back({std::move(name), std::move(seconds)});
    results_.push_back(result);
  }
  void add_row(PyTorch& pytorch, std::size_t i) {
    CpuGemmRow& row = rows_[i];
    const ProductFormat format = row.format;
    if (row.fault.empty()) {
      add("ours", &row.ours,
          [this, format](int runs) { return seconds_of([&] { product_.multiply(format); }, runs); });
    }
    if (row.no_pytorch.empty()) {
      add("PyTorch", &row.pytorch,
          [&pytorch, request = "gemm " + request_of(row.shape, format.values)](int runs) {
            return pytorch.seconds(concat(request, " ", runs));
          });
    }
  }

  CpuProduct product_;
  std::vector<CpuGemmRow> rows_;
  Timing openblas_, peak_;
  std::vector<Contender> contenders_;
  std::vector<Timing*> results_;
};

void add_layer(std::vector<ProductShape>& shapes, const std::string& model, int layer, int batch, int inputs,
               int outputs) {
  const std::string name = concat(model, " ", layer);
  shapes.push_back({name + " y", batch, outputs, inputs, Trans::no, Trans::no});
  if (layer > 1) shapes.push_back({name + " dx", batch, inputs, outputs, Trans::no, Trans::yes});
  shapes.push_back({name + " dw", inputs, outputs, batch, Trans::yes, Trans::no});
}

}  // namespace

std::vector<ProductShape> squares(bool quick) {
  std::vector<ProductShape> shapes;
  for (const int n : quick ? std::vector{64} : std::vector{512, 768, 1024, 1536, 2048})
    shapes.push_back({"", n, n, n, Trans::no, Trans::no});
  return shapes;
}

std::vector<ProductShape> layers(bool quick) {
  std::vector<ProductShape> shapes;
  add_layer(shapes, "mlp", 1, 64, 784, 128);
  add_layer(shapes, "mlp", 2, 64, 128, 10);
  if (quick) return shapes;
  const int widths[] = {784, 64, 32, 64, 784};
  for (int i = 0; i < 4; ++i) add_layer(shapes, "autoencoder", i + 1, 1024, widths[i], widths[i + 1]);
  return shapes;
}

CpuGemmReport bench_cpu_gemm(const OpenBlas& openblas, PyTorch& pytorch, const RaceRules& rules, bool quick,
                             const Progress& progress) {
  CpuGemmReport report;
  report.openblas = about(openblas);
  report.pytorch = about(pytorch);
  for (const FmaLoop& loop : fma_loops()) {
    progress(concat("multiply-adds alone, ", loop.instructions));
    std::vector<double> one, all;
    for (int i = 0; i < rules.rounds; ++i) {
      one.push_back(fma_rate(loop, 1, rules.sample_seconds));
      all.push_back(fma_rate(loop, threads(), rules.sample_seconds));
    }
    report.peaks.push_back({loop.instructions, median(one), median(all)});
  }
  std::vector<ProductShape> shapes = squares(quick);
  for (const ProductShape& shape : layers(quick)) shapes.push_back(shape);
  for (const ProductShape& shape : shapes) {
    progress(concat("products ", text_of(shape)));
    for (const CpuGemmRow& row : ShapeRace(openblas, pytorch, shape).run(rules)) report.rows.push_back(row);
  }
  return report;
}

}  // namespace tinymp::kernels::bench
