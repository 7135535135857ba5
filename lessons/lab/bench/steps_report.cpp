#include <lessons/lab/bench/report_text.h>
#include <lessons/lab/bench/steps.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <set>

// The reports on training steps, as tables and as JSON.
namespace tinymp::kernels::bench {
namespace {

using Json = nlohmann::ordered_json;
using report::Align;

double rate(const Timing& step) { return quotient(1, step.median); }

/// PyTorch's FP32 time / this time.
double to_fp32(const StepRow& row) { return quotient(row.pytorch_fp32.median, row.ours.median); }
double to_same(const StepRow& row) { return quotient(row.pytorch.median, row.ours.median); }

Json lines_json(const StepProfile& profile) {
  Json lines = Json::array();
  for (const ProfileLine& line : profile.lines) {
    lines.push_back({{"kernel", line.kernel},
                     {"operands", line.operands},
                     {"way", line.way},
                     {"calls", line.calls},
                     {"seconds", line.seconds},
                     {"share", quotient(line.seconds, profile.seconds)}});
  }
  return lines;
}

}  // namespace

Json StepsReport::json() const {
  Json all{{"bench", "steps"}, {"device", name_of(device)}, {"pytorch", pytorch}, {"rows", Json::array()}};
  for (const StepRow& row : rows) {
    Json json{{"model", row.model->name},
              {"what", row.model->what},
              {"batch", row.model->batch},
              {"format", row.recipe->name},
              {"recipe", describe(row.recipe->recipe)},
              {"ours", timing_json(row.ours)},
              {"steps_per_second", or_null(rate(row.ours))},
              {"fault", row.ours.fault},
              {"time_of_our_fp32", or_null(row.of_fp32)}};
    if (device != Device::cpu) {
      json["graph"] = timing_json(row.graph);
      json["graph"]["steps_per_second"] = or_null(rate(row.graph));
      json["graph"]["fault"] = row.graph.fault;
    }
    json["pytorch"] = timing_json(row.pytorch);
    json["pytorch"]["steps_per_second"] = or_null(rate(row.pytorch));
    json["pytorch"]["why_not"] = row.no_pytorch;
    for (const PyTorchWay& way : row.ways) {
      Json& theirs = json["pytorch"][way.name] = timing_json(way.timing);
      theirs["steps_per_second"] = or_null(rate(way.timing));
      theirs["why_not"] = way.why_not;
    }
    json["ours_to_pytorch"] = or_null(to_same(row));
    json["ours_to_pytorch_fp32"] = or_null(to_fp32(row));
    all["rows"].push_back(json);
  }
  return all;
}

report::Table StepsReport::gpu_table() const {
  report::Table table{{"model", "recipe", "steps/s", "our graph", "PyTorch"}, {Align::left, Align::left}, {}};
  if (!rows.empty())
    for (const PyTorchWay& way : rows[0].ways) table.header.push_back(way.name);
  table.header.emplace_back("ours to best");
  table.align.resize(table.header.size(), Align::right);
  for (const StepRow& row : rows) {
    const auto cell = [](const Timing& step) { return step.fault.empty() ? digits(rate(step)) : "FAILED"; };
    std::vector<std::string> cells{row.recipe == step_recipes().data() ? row.model->what : "",
                                   row.recipe->name, cell(row.ours), cell(row.graph),
                                   digits(rate(row.pytorch))};
    double best = row.pytorch.median;
    for (const PyTorchWay& way : row.ways) {
      cells.push_back(digits(rate(way.timing)));
      if (way.timing.median > 0) best = best > 0 ? std::min(best, way.timing.median) : way.timing.median;
    }
    const double ours = row.graph.median > 0 ? std::min(row.ours.median, row.graph.median) : row.ours.median;
    cells.push_back(times(quotient(best, ours)));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

report::Table StepsReport::table() const {
  if (device != Device::cpu) return gpu_table();
  const bool beside = std::ranges::any_of(rows, [](const StepRow& row) { return row.pytorch.median > 0; });
  report::Table table{{"model", "batch", "recipe", "steps/s", "time of FP32"},
                      {Align::left, Align::right, Align::left, Align::right, Align::right},
                      {}};
  if (beside) {
    table.header.insert(table.header.end(), {"PyTorch", "ours", "to its FP32"});
    table.align.insert(table.align.end(), 3, Align::right);
  }
  for (const StepRow& row : rows) {
    const bool first = row.recipe == step_recipes().data();
    std::vector<std::string> cells{first ? row.model->what : "", first ? concat(row.model->batch) : "",
                                   row.recipe->name, digits(rate(row.ours)), first ? "" : times(row.of_fp32)};
    if (beside)
      cells.insert(cells.end(), {digits(rate(row.pytorch)), times(to_same(row)), times(to_fp32(row))});
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::string StepsReport::notes() const {
  std::string text = sentence_about({}, pytorch);
  if (!pytorch.contains("why_not"))
    text +=
        "Its f16 is autocast with a GradScaler, its bf16 autocast; its weights stay FP32, as our masters "
        "do. It has no training in FP8.\n";
  std::set<std::string> told{pytorch.value("why_not", ""), no_eight_bits, ""};
  for (const StepRow& row : rows) {
    if (!told.contains(row.no_pytorch))
      text += concat(row.model->what, ", ", row.recipe->name, ": no PyTorch: ", row.no_pytorch, "\n");
    for (const PyTorchWay& way : row.ways) {
      if (!told.contains(way.why_not))
        text += concat(row.model->what, ", ", row.recipe->name, ", ", way.name, ": ", way.why_not, "\n");
    }
  }
  return text;
}

Json StepProfile::json() const {
  return {{"model", model->name},        {"batch", model->batch}, {"format", recipe->name},
          {"device", name_of(device)},   {"steps", steps},        {"seconds", seconds},
          {"kernels", lines_json(*this)}};
}

report::Table StepProfile::table() const {
  report::Table table{{"kernel", "calls", "ms", "share", "us/call", "operands"},
                      {Align::left, Align::right, Align::right, Align::right, Align::right, Align::left},
                      {}};
  double outside = seconds;
  const auto add = [&](const std::string& name, double calls, double time, const std::string& operands) {
    table.rows.push_back({name, digits(calls / steps), digits(1e3 * time / steps),
                          percent(quotient(time, seconds)), digits(1e6 * quotient(time, calls)), operands});
  };
  const auto named = [](const ProfileLine& line) {
    return line.way.empty() ? line.kernel : concat(line.kernel, ", ", line.way);
  };
  ProfileLine small{.kernel = "other kernels", .operands = "each less than 0.5 % of a step"};
  for (const ProfileLine& line : lines) {
    outside -= line.seconds;
    if (line.seconds < 0.005 * seconds) {
      small.calls += line.calls;
      small.seconds += line.seconds;
    } else {
      add(named(line), static_cast<double>(line.calls), line.seconds, line.operands);
    }
  }
  if (small.calls > 0) add(small.kernel, static_cast<double>(small.calls), small.seconds, small.operands);
  add("between kernels", 0, outside, "tape, tensors, bookkeeping");
  add("a step", steps, seconds, "");
  return table;
}

}  // namespace tinymp::kernels::bench
