#include <lessons/lab/bench/gpu_check.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <fstream>
#include <system_error>

// The figures of a part, a line each as they are measured.
namespace tinymp::lab::gpu_check {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

fs::path rows_of(const Setting& setting) { return setting.scratch / concat(setting.part, ".jsonl"); }

}  // namespace

void keep(Finding& finding, const Setting& setting, Json row) {
  std::ofstream(rows_of(setting), std::ios::app) << row.dump() << std::endl;
  finding.data.push_back(std::move(row));
}

Json kept_rows(const Setting& setting) {
  Json rows = Json::array();
  std::ifstream in(rows_of(setting));
  for (std::string line; std::getline(in, line);) {
    Json row = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (row.is_object()) rows.push_back(std::move(row));  // the last line may have been cut off
  }
  return rows;
}

ResumedRows::ResumedRows(const Setting& setting, const std::vector<std::string>& names) : setting_(&setting) {
  for (const Json& row : kept_rows(setting)) before_[row.value("row", "")] = row;
  complete_ = std::ranges::all_of(names, [this](const std::string& name) { return before_.contains(name); });
}

Json ResumedRows::row(const std::string& name, const std::function<Json(const Json& before)>& measure) {
  const auto found = before_.find(name);
  const Json before = found == before_.end() ? Json(nullptr) : found->second;
  if (!before.is_null() && (!complete_ || before.value("good", false))) return before;
  if (setting_->is_over()) return before;
  Json row{{"row", name}};
  row.update(measure(before));
  // What the end of the part has cut off says nothing of what it was.
  if (setting_->is_over() && !row.value("good", false)) return before;
  Finding not_yet;
  keep(not_yet, *setting_, row);
  return row;
}

void forget_rows(const Setting& setting) {
  std::error_code none_is_there;
  fs::remove(rows_of(setting), none_is_there);
}

void forget_rows_of_others(const Setting& setting, const std::string& key) {
  const fs::path path = setting.scratch / concat(setting.part, ".key");
  std::string before;
  std::getline(std::ifstream(path), before);
  if (before != key) forget_rows(setting);
  std::ofstream(path) << key << std::endl;
}

}  // namespace tinymp::lab::gpu_check
