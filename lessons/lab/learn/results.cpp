#include <lessons/lab/learn/lab_state.h>
#include <lessons/lab/learn/results.h>
#include <lessons/lab/report/section.h>
#include <tinymp/base/error.h>
#include <tinymp/train/log_json.h>
#include <tinymp/train/provenance.h>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

namespace tinymp::lab {
namespace {

using Json = nlohmann::ordered_json;
using report::Group;
using train::json_number;
using train::LogRecord;

/// One value a seed.
Json list_of(const Group& group, double (*figure)(const train::Run&)) {
  Json list = Json::array();
  for (const train::Run* run : group.runs) list.push_back(json_number(figure(*run)));
  return list;
}

double result_of(const train::Run& run) { return run.result ? run.result->value : train::not_measured; }

/// Means over seeds and logged steps, as in the table of the page; what was not measured is left out.
Json shares_of(const Group& group) {
  const std::pair<const char*, double (*)(const LogRecord&)> all[] = {
      {"zero", [](const LogRecord& r) { return r.zero; }},
      {"subnormal", [](const LogRecord& r) { return r.subnormal; }},
      {"flushed", [](const LogRecord& r) { return r.flushed; }},
      {"underflowed", [](const LogRecord& r) { return r.underflowed; }},
      {"absorbed", [](const LogRecord& r) { return r.absorbed; }},
      {"lost", [](const LogRecord& r) { return report::value_of(report::Quantity::lost, r); }}};
  Json shares = Json::object();
  for (const auto& [name, share] : all) {
    if (const double mean = report::mean_share(group, share); !std::isnan(mean)) shares[name] = mean;
  }
  return shares;
}

double first_loss(const train::Run& run) {
  return run.steps.empty() ? train::not_measured : run.steps.front().loss;
}
double last_loss(const train::Run& run) {
  return run.steps.empty() ? train::not_measured : run.steps.back().loss;
}
double last_scale(const train::Run& run) {
  return run.steps.empty() ? train::not_measured : run.steps.back().scale;
}
double skipped(const train::Run& run) {
  return run.result ? static_cast<double>(run.result->skipped) : train::not_measured;
}
/// The first step whose loss was not finite; 0: none.
double nonfinite_step(const train::Run& run) {
  return run.result ? static_cast<double>(run.result->first_nonfinite_step) : train::not_measured;
}

Json curve_of(const Group& group) {
  std::vector<double> values;
  for (const train::Run* run : group.runs) values.push_back(result_of(*run));
  const train::RunHeader& header = group.runs.front()->header;
  return {{"name", group.name},
          {"recipe", describe(header.recipe)},
          {"model", header.model},
          {"optimizer", header.optimizer},
          {"steps", header.steps},
          {"batch", header.samples()},
          {"metric", header.metric},
          {"values", list_of(group, result_of)},
          {"mean", json_number(mean(values))},
          {"smallest", json_number(smallest(values))},
          {"largest", json_number(largest(values))},
          {"shares", shares_of(group)},
          {"skipped", list_of(group, skipped)},
          {"last S", list_of(group, last_scale)},
          {"first loss", list_of(group, first_loss)},
          {"last loss", list_of(group, last_loss)},
          {"first step with NaN", list_of(group, nonfinite_step)}};
}

Json questions_of(const std::vector<report::ReportSection>& sections) {
  Json questions = Json::array();
  for (const report::ReportSection& section : sections) {
    Json curves = Json::array();
    for (const Group& group : report::group_by_recipe(section.runs)) curves.push_back(curve_of(group));
    questions.push_back(
        {{"question", section.question}, {"verdict", section.verdict}, {"curves", std::move(curves)}});
  }
  return questions;
}

std::string part_of(const std::string& path) { return path + ".part"; }

[[noreturn]] void fail(const std::string& path, int reason) {
  std::remove(part_of(path).c_str());
  throw Error(concat("cannot write the results ", path, ": ", std::strerror(reason),
                     "; write elsewhere: --results FILE"));
}

std::FILE* opened(const std::string& path) {
  std::FILE* const file = std::fopen(part_of(path).c_str(), "wb");
  if (file == nullptr) fail(path, errno);
  return file;
}

}  // namespace

std::string Lab::Impl::results(const Options& options,
                               const std::vector<report::ReportSection>& sections) const {
  Json json = {{"lesson", lesson.name},
               {"verified", options.verify && !options.smoke},
               {"sabotaged", options.sabotage},
               {"data", data_is},
               {"seeds", Json::array()},
               {"machine",
                {{"command", options.command},
                 {"date", train::utc_now()},
                 {"commit", train::build_commit()},
                 {"processor", train::processor_name()},
                 {"compiler", train::compiler_name()}}},
               {"questions", questions_of(sections)},
               {"claims", Json::array()},
               {"numbers", Json::object()},
               {"said", printed}};
  for (int i = 0; i < options.seeds; ++i)
    json["seeds"].push_back(options.first_seed + static_cast<std::uint64_t>(i));
  for (const Claim& claim : claims)
    json["claims"].push_back({{"holds", claim.holds}, {"sentence", claim.sentence}});
  for (const auto& [name, value] : numbers) json["numbers"][name] = json_number(value);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void expect_writable(const std::string& path) {
  std::fclose(opened(path));
  std::remove(part_of(path).c_str());
}

void write_results(const std::string& path, const std::string& json) {
  std::FILE* const file = opened(path);
  const bool written =
      std::fwrite(json.data(), 1, json.size(), file) == json.size() && std::fflush(file) == 0;
  const int reason = errno;
  const bool closed = std::fclose(file) == 0;
  if (!written || !closed) fail(path, written ? errno : reason);
  if (std::rename(part_of(path).c_str(), path.c_str()) != 0) fail(path, errno);
}

}  // namespace tinymp::lab
