#include <lessons/lab/bench/gemm.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

// The report on the ladder as JSON and as a table, and what earlier reports say.
namespace tinymp::kernels::bench {
namespace {

using Json = nlohmann::ordered_json;

std::string share(double x) { return x > 0 ? report::fixed(100 * x, 1) + " %" : "-"; }
std::string decimals(double x) { return x > 0 ? report::fixed(x, x < 1 ? 4 : x < 100 ? 3 : 1) : "-"; }

Json or_null(double x) { return x > 0 ? Json(x) : Json(nullptr); }

Json machine_json(const Machine& machine) {
  return {{"name", machine.name},
          {"architecture", concat("sm_", machine.architecture)},
          {"driver", machine.driver},
          {"runtime", machine.runtime},
          {"multiprocessors", machine.multiprocessors},
          {"clock_hz", machine.clock},
          {"l2_bytes", machine.l2_bytes}};
}

/// The name of a yardstick in the fields of a report.
const char* field_of(Yardstick y) { return y == Yardstick::cublas ? "cublas" : "cublaslt"; }

/// Adds the rungs that a report calls right. The report may be a part of `json`.
void collect(const Json& json, std::vector<Rung>& rungs) {
  if (json.is_object() && json.value("bench", "") == "gemm" && json.contains("rows")) {
    if (json.value("emulated", true)) return;
    for (const Json& row : json["rows"]) {
      if (!row.value("right", false)) continue;
      for (std::size_t i = 0; i < ladder.size(); ++i)
        if (ladder[i].name == row.value("rung", "")) rungs.push_back(static_cast<Rung>(i));
    }
  } else if (json.is_structured()) {
    // "earlier" holds the figures of other kernels (gpu_check.cpp).
    for (const auto& part : json.items())
      if (part.key() != "earlier") collect(part.value(), rungs);
  }
}

}  // namespace

Json GemmReport::json() const {
  Json all{{"bench", "gemm"},
           {"emulated", machine.emulated},
           {"device", machine_json(machine)},
           {"M", shape.M},
           {"N", shape.N},
           {"K", shape.K},
           {"format", name_of(shape.format)},
           {"sums", name_of(shape.sums)},
           {"transposed", concat(shape.ta == Trans::yes ? "a" : "", shape.tb == Trans::yes ? "b" : "")}};
  all["limit"] = {{"tflops", or_null(limit.tflops)}, {"source", limit.source}};
  for (std::size_t i = 0; i < yardsticks.size(); ++i) {
    all[field_of(yardsticks[i])] = {{"milliseconds", or_null(beside[i].milliseconds)},
                                    {"version", beside[i].version},
                                    {"why_not", beside[i].why_not}};
  }
  all["rows"] = Json::array();
  for (const GemmRow& row : rows) {
    // Times of an emulation say nothing about a GPU, so the report leaves them out.
    const bool timed = row.milliseconds > 0 && !machine.emulated;
    all["rows"].push_back({{"rung", rules_of(row.rung).name},
                           {"parts", row.parts},
                           {"right", row.products > 0 && row.fault.empty()},
                           {"products", row.products},
                           {"fault", row.fault},
                           {"left_out", row.left_out},
                           {"milliseconds", timed ? Json(row.milliseconds) : Json(nullptr)},
                           {"runs", timed ? row.runs : 0},
                           {"tflops", timed ? Json(row.tflops) : Json(nullptr)},
                           {"share_of_limit", or_null(row.limit_share)}});
    for (std::size_t i = 0; i < yardsticks.size(); ++i)
      all["rows"].back()[concat("share_of_", field_of(yardsticks[i]))] = or_null(row.shares[i]);
  }
  return all;
}

report::Table GemmReport::table() const {
  using report::Align;
  report::Table table{{"rung", "ms"}, {Align::left, Align::right}, {}};
  if (!machine.emulated) {
    for (const char* name : {"TFLOP/s", "of cuBLAS", "of Lt", "of limit"}) {
      table.header.emplace_back(name);
      table.align.push_back(Align::right);
    }
  }
  table.header.insert(table.header.end(), {"oracle", ""});
  const auto add = [&](std::string name, const GemmRow& row, const char* oracle, const char* hardware) {
    std::vector<std::string> cells{std::move(name), decimals(row.milliseconds)};
    if (!machine.emulated)
      cells.insert(cells.end(), {decimals(row.tflops), share(row.shares[0]), share(row.shares[1]),
                                 share(row.limit_share)});
    cells.insert(cells.end(), {oracle, hardware});
    table.rows.push_back(std::move(cells));
  };
  for (const GemmRow& row : rows) {
    const char* const oracle = !row.left_out.empty() ? "-" : row.fault.empty() ? "right" : "WRONG";
    add(with_parts(std::string(rules_of(row.rung).name), row.parts), row, oracle,
        row.run_on_gpu ? "" : "UNTESTED ON HARDWARE");
  }
  for (std::size_t i = 0; i < yardsticks.size(); ++i) {
    if (beside[i].milliseconds <= 0) continue;
    GemmRow row{.milliseconds = beside[i].milliseconds};
    for (std::size_t j = 0; j < yardsticks.size(); ++j)
      row.shares[j] = beside[j].milliseconds / row.milliseconds;
    row.tflops = rate(row.milliseconds);
    if (limit.tflops > 0) row.limit_share = row.tflops / limit.tflops;
    add(name_of(yardsticks[i]), row, "right", "");
  }
  return table;
}

std::string GemmReport::notes() const {
  std::string text;
  for (const GemmRow& row : rows) {
    if (!row.left_out.empty()) text += row.left_out + "\n";
    if (!row.fault.empty()) text += concat(row.rung, " is WRONG: ", row.fault, "\n");
  }
  if (machine.emulated) return text + "Emulated: the times are those of a CPU and say nothing about a GPU.\n";
  text += limit.tflops > 0 ? concat("The limit: ", limit.tflops, " TFLOP/s (", limit.source, ").\n")
                           : limit.source + ".\n";
  for (std::size_t i = 0; i < yardsticks.size(); ++i) {
    const char* const name = name_of(yardsticks[i]);
    text += beside[i].milliseconds > 0
                ? concat(name, " ", beside[i].version, ", with the same accumulator.\n")
                : concat("No share of ", name, ": ", beside[i].why_not, ".\n");
  }
  return text;
}

std::string with_parts(const std::string& rung, int parts) {
  return parts > 1 ? concat(rung, ", ", parts, " parts") : rung;
}

double GemmReport::rate(double milliseconds) const {
  return 2e-9 * shape.M * shape.N * shape.K / milliseconds;
}

namespace {

void for_each_report(const std::string& folder, const std::function<void(const Json&)>& use) {
  namespace fs = std::filesystem;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder, missing)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    const Json json = Json::parse(in, nullptr, false);
    expect(!json.is_discarded(), entry.path().string(), " is no JSON: delete it, or restore it");
    use(json);
  }
}

}  // namespace

std::vector<Rung> rungs_run_on_gpu(const std::string& folder) {
  std::vector<Rung> rungs;
  for_each_report(folder, [&](const Json& json) { collect(json, rungs); });
  return rungs;
}

bool part_run_on_gpu(const std::string& folder, const std::string& part) {
  const std::string state = concat("/parts/", part, "/state");
  bool found = false;
  for_each_report(folder, [&](const Json& json) {
    if (!json.is_object() || !json.contains("device") || !json["device"].is_string())
      return;  // none of gpu-check
    const bool emulated = json["device"].get<std::string>().starts_with("emulated");
    found = found || (!emulated && json.value(Json::json_pointer(state), "") == "good");
  });
  return found;
}

std::string untested_mark(const std::string& folder, const std::string& part) {
  return part_run_on_gpu(folder, part) ? "" : "UNTESTED ON HARDWARE: no report of a GPU has these figures";
}

}  // namespace tinymp::kernels::bench
