#include <lessons/lab/bench/gpu_check.h>
#include <tinymp/base/error.h>
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
