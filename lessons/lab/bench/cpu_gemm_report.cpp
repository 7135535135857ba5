#include <lessons/lab/bench/cpu_gemm.h>
#include <lessons/lab/bench/report_text.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <set>

// The report on our matrix product, as a table and as JSON.
namespace tinymp::kernels::bench {
namespace {

using Json = nlohmann::ordered_json;

bool exact_peer(const CpuGemmRow& row) { return row.format.values == DType::f32; }

double gflops(const ProductShape& shape, double seconds) {
  return seconds > 0 ? 2e-9 * shape.M * shape.N * shape.K / seconds : 0;
}

std::string name_of(const ProductShape& shape) {
  return shape.name.empty() ? concat(shape.M) : shape.name + "  " + text_of(shape);
}
std::string name_of(ProductFormat format) {
  return concat(format.values, format.sums == DType::f16 ? ", f16 sums" : "");
}

/// A product has a row for each format, the first of them f32. The first column holds its name in one row and
/// its matrices in the next ones, so that the table fits into 80 columns.
std::array<std::string, 3> lines_of(const ProductShape& shape) {
  if (shape.name.empty()) return {concat(shape.M)};
  const std::string matrices = text_of(shape);
  const std::size_t between = matrices.find(' ');
  return {shape.name, matrices.substr(0, between), matrices.substr(between + 1)};
}
std::string short_name_of(ProductFormat format) {
  return format.sums == DType::f16 ? "f16 sums" : name_of(format);
}

/// A column, which the table has only when a row fills it. The last two columns say how many times as fast as
/// the others our product is.
struct Column {
  const char* head;
  std::function<std::string(const CpuGemmRow&)> cell;
};

std::vector<Column> columns() {
  return {
      {"ms", [](const CpuGemmRow& row) { return digits(1e3 * row.ours.median); }},
      {"GFLOP/s", [](const CpuGemmRow& row) { return digits(gflops(row.shape, row.ours.median)); }},
      {"of peak",
       [](const CpuGemmRow& row) { return percent(quotient(gflops(row.shape, row.ours.median), row.peak)); }},
      {"of FP32", [](const CpuGemmRow& row) { return exact_peer(row) ? "" : times(row.of_fp32); }},
      {"OpenBLAS",
       [](const CpuGemmRow& row) {
         return exact_peer(row) ? times(quotient(row.openblas.median, row.ours.median)) : std::string();
       }},
      {"PyTorch", [](const CpuGemmRow& row) { return times(quotient(row.pytorch.median, row.ours.median)); }},
  };
}

}  // namespace

Json about(const OpenBlas& openblas) {
  if (!openblas.why_not().empty()) return {{"why_not", openblas.why_not()}};
  return {{"version", openblas.version()}, {"core", openblas.core()}, {"threads", openblas.threads()}};
}

Json about(const PyTorch& pytorch) {
  return pytorch.why_not().empty() ? pytorch.about() : Json{{"why_not", pytorch.why_not()}};
}

std::string sentence_about(const Json& openblas, const Json& pytorch) {
  std::string text;
  if (!openblas.is_null()) {
    text += openblas.contains("why_not")
                ? concat("No OpenBLAS found: ", openblas["why_not"].get<std::string>(), ".\n")
                : concat("OpenBLAS ", openblas["version"].get<std::string>(), ", kernels for ",
                         openblas["core"].get<std::string>(), ", threads: ", openblas["threads"].get<int>(),
                         ".\n");
  }
  if (pytorch.contains("why_not"))
    return text + concat("No PyTorch found: ", pytorch["why_not"].get<std::string>(), ".\n");
  return text + concat("PyTorch ", pytorch["version"].get<std::string>(), " (",
                       pytorch["built with"].get<std::string>(),
                       "), threads: ", pytorch["threads"].get<int>(), ".\n");
}

bool CpuGemmReport::good() const {
  return std::ranges::all_of(rows, [](const CpuGemmRow& row) { return row.fault.empty(); });
}

Json CpuGemmReport::json() const {
  Json all{{"bench", "cpu-gemm"}, {"openblas", openblas}, {"pytorch", pytorch}};
  all["fma_peak"] = Json::array();
  for (const FmaPeak& peak : peaks) {
    all["fma_peak"].push_back({{"instructions", peak.instructions},
                               {"gflops_one_thread", peak.one_thread},
                               {"gflops_all_threads", peak.all_threads}});
  }
  all["rows"] = Json::array();
  for (const CpuGemmRow& row : rows) {
    const double rate = gflops(row.shape, row.ours.median);
    Json json{
        {"product", row.shape.name.empty() ? "square" : row.shape.name},
        {"M", row.shape.M},
        {"N", row.shape.N},
        {"K", row.shape.K},
        {"transposed", concat(row.shape.ta == Trans::yes ? "a" : "", row.shape.tb == Trans::yes ? "b" : "")},
        {"format", tinymp::name_of(row.format.values)},
        {"sums", tinymp::name_of(row.format.sums)},
        {"right", row.fault.empty()},
        {"fault", row.fault},
        {"ours", timing_json(row.ours)},
        {"gflops", or_null(rate)},
        {"peak_gflops", or_null(row.peak)},
        {"share_of_peak", or_null(quotient(rate, row.peak))},
        {"of_our_fp32", or_null(row.of_fp32)}};
    json["pytorch"] = timing_json(row.pytorch);
    json["pytorch"]["why_not"] = row.no_pytorch;
    json["ours_to_pytorch"] = or_null(quotient(row.pytorch.median, row.ours.median));
    if (exact_peer(row)) {
      json["openblas"] = timing_json(row.openblas);
      json["openblas"]["why_not"] = row.no_openblas;
      json["ours_to_openblas"] = or_null(quotient(row.openblas.median, row.ours.median));
    }
    all["rows"].push_back(json);
  }
  return all;
}

report::Table CpuGemmReport::table() const {
  report::Table table{{"product", "format"}, {report::Align::left, report::Align::left}, {}};
  std::array<std::string, 3> what;
  std::size_t of_product = 0;
  for (const CpuGemmRow& row : rows) {
    if (exact_peer(row)) {
      what = lines_of(row.shape);
      of_product = 0;
    }
    table.rows.push_back({of_product < what.size() ? what[of_product] : "", short_name_of(row.format)});
    ++of_product;
  }
  for (const Column& column : columns()) {
    const auto empty = [&](const CpuGemmRow& row) {
      const std::string cell = column.cell(row);
      return cell.empty() || cell == "-";
    };
    if (std::ranges::all_of(rows, empty)) continue;  // no library to compare with: the notes say why
    table.header.emplace_back(column.head);
    table.align.push_back(report::Align::right);
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.rows[i].push_back(rows[i].fault.empty() ? column.cell(rows[i]) : "WRONG");
  }
  return table;
}

std::string CpuGemmReport::notes() const {
  std::string text;
  for (const FmaPeak& peak : peaks) {
    text += concat("Multiply-adds alone, ", peak.instructions, ": ", digits(peak.one_thread),
                   " GFLOP/s on one thread, ", digits(peak.all_threads),
                   " on all; a product's share is of what they reached between its samples.\n");
  }
  text += sentence_about(openblas, pytorch);
  std::set<std::string> told{openblas.value("why_not", ""), pytorch.value("why_not", ""), ""};
  for (const CpuGemmRow& row : rows) {
    const std::string what = concat(name_of(row.shape), ", ", name_of(row.format), ": ");
    if (!row.fault.empty()) text += concat(what, "our result is WRONG: ", row.fault, "\n");
    if (exact_peer(row) && !told.contains(row.no_openblas))
      text += concat(what, "no OpenBLAS: ", row.no_openblas, "\n");
    if (row.format.sums == DType::f32 && !told.contains(row.no_pytorch))
      text += concat(what, "no PyTorch: ", row.no_pytorch, "\n");
  }
  return text;
}

}  // namespace tinymp::kernels::bench
