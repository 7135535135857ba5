#include <fmt/format.h>

#include <lessons/lab/report/comparison.h>
#include <lessons/lab/report/csv.h>
#include <tinymp/base/error.h>
#include <tinymp/train/log_json.h>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

// A comparison as CSV and as JSON. As a table: comparison_text.cpp.
namespace tinymp::report {
namespace {

using Json = nlohmann::ordered_json;

struct Column {
  const char* name;
  std::function<std::optional<double>(const Compared&)> number;  ///< empty function: a text
  std::function<std::string(const Compared&)> text;
};

const std::vector<Column>& columns() {
  const auto difference = [](std::optional<double> (*part)(const Difference&)) {
    return [part](const Compared& row) { return row.difference ? part(*row.difference) : std::nullopt; };
  };
  static const std::vector<Column> all = {
      {"run", {}, [](const Compared& row) { return row.name; }},
      {"recipe", {}, [](const Compared& row) { return row.recipe; }},
      {"model", {}, [](const Compared& row) { return row.model; }},
      {"data", {}, [](const Compared& row) { return row.data; }},
      {"seed", {}, [](const Compared& row) { return row.seeds; }},
      {"lr", {}, [](const Compared& row) { return row.lr; }},
      {"final", [](const Compared& row) { return row.final; }, {}},
      {"best", [](const Compared& row) { return row.best; }, {}},
      {"diff", difference([](const Difference& d) { return std::optional(d.mean); }), {}},
      {"low", difference([](const Difference& d) { return d.low; }), {}},
      {"high", difference([](const Difference& d) { return d.high; }), {}},
      {"skips", [](const Compared& row) { return row.skips; }, {}},
      {"lost", [](const Compared& row) { return row.lost; }, {}},
      {"flushed", [](const Compared& row) { return row.flushed; }, {}},
      {"seconds", [](const Compared& row) { return row.seconds; }, {}},
      {"peak_bytes", [](const Compared& row) { return row.peak_bytes; }, {}},
      {"samples_per_second", [](const Compared& row) { return row.samples_per_second; }, {}}};
  return all;
}

/// As few digits as read back to the same double.
std::string exact(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  const bool whole = std::abs(value) < 0x1p53 && value == std::floor(value);
  return whole ? fmt::format("{:.0f}", value) : fmt::format("{}", value);
}

Json json_of(const Column& column, const Compared& row) {
  if (column.text) {
    const std::string text = column.text(row);
    return text.empty() ? Json(nullptr) : Json(text);
  }
  const std::optional<double> value = column.number(row);
  return value ? train::json_number(*value) : Json(nullptr);
}

Json json_of(const std::optional<MemoryFigures>& memory) {
  if (!memory) return nullptr;
  const auto number = [](double bytes) { return train::json_number(bytes); };
  return {{"weights", number(memory->weights)},         {"masters", number(memory->masters)},
          {"optimizer", number(memory->optimizer)},     {"gradients", number(memory->gradients)},
          {"activations", number(memory->activations)}, {"workspace", number(memory->workspace)},
          {"scratch", number(memory->scratch)}};
}

}  // namespace

std::string comparison_csv(std::span<const Comparison> comparisons) {
  std::string text;
  for (const Column& column : columns()) text += concat(text.empty() ? "" : ",", column.name);
  text += "\r\n";
  for (const Comparison& comparison : comparisons) {
    for (const Compared& row : comparison.groups) {
      std::string line;
      for (const Column& column : columns()) {
        if (&column != columns().data()) line += ',';
        if (column.text)
          line += csv_field(column.text(row));
        else if (const std::optional<double> value = column.number(row))
          line += exact(*value);
      }
      text += line + "\r\n";
    }
  }
  return text;
}

std::string comparison_json(std::span<const Comparison> comparisons) {
  Json rows = Json::array();
  for (const Comparison& comparison : comparisons) {
    for (const Compared& row : comparison.groups) {
      Json& json = rows.emplace_back(Json::object());
      for (const Column& column : columns()) json[column.name] = json_of(column, row);
      json["memory"] = json_of(row.memory);
    }
  }
  return rows.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tinymp::report
