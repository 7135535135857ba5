#include <lessons/lab/clinic/case.h>
#include <lessons/lab/clinic/hand_loop.h>
#include <lessons/lab/learn/command_line.h>
#include <tinymp/base/foreign_text.h>
#include <tinymp/train/run_log_fields.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

namespace tinymp::clinic {

namespace fs = std::filesystem;

std::string folder() { return TINYMP_SOURCE_DIR "/lessons/clinic"; }

Json read_json(const std::string& path) {
  constexpr std::uintmax_t longest = 1 << 20;
  std::error_code failed;
  expect(fs::is_regular_file(path, failed), "cannot read ", path, ": no regular file");
  expect(fs::file_size(path) <= longest, path, ": more than ", longest >> 20,
         " MB; no file of the clinic is that long");
  std::ifstream in(path);
  expect(in.is_open(), "cannot read ", path);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  expect(!is_too_deep(text), path, ": nested more than ", deepest_json, " deep");
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw Error(concat(path, ": ", excerpt(error.what(), 200)));
  }
}

std::string Patient::name() const { return concat("patient ", number); }
std::string Patient::title() const {
  std::string called = stem.substr(stem.find('_') + 1);
  std::ranges::replace(called, '_', ' ');
  return concat("Patient ", number, ": ", called);
}
std::string Patient::log() const { return concat(folder(), "/runs/", stem, ".jsonl"); }

std::vector<Patient> patients() {
  std::vector<Patient> all;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder() + "/cases")) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != ".json") continue;
    all.push_back({std::stoi(lab::lesson_number(stem)), stem, read_json(entry.path().string())});
  }
  std::ranges::sort(all, {}, &Patient::number);
  return all;
}

Patient patient(const std::string& number) {
  const std::vector<Patient> all = patients();
  for (const Patient& one : all) {
    if (std::to_string(one.number) == number || one.stem == number) return one;
  }
  throw UsageError(concat("there is no patient '", number, "'; there are 1 to ", all.size()));
}

Json answer_of(const Patient& patient) {
  return read_json(concat(folder(), "/answers/", patient.stem, ".json"));
}

Json cured(const Patient& patient) {
  Json config = patient.config;
  config.merge_patch(answer_of(patient).at("cure"));
  return config;
}

Label label_of(const Patient& patient, bool is_cured) {
  return {patient.title(), patient.name() + (is_cured ? ", cured" : ""),
          concat("./learn clinic run ", patient.number, is_cured ? " --cured" : "")};
}

train::Run run(const Json& config, const Label& label, const std::string& path, std::int64_t steps) {
  const data::Split data = data::load_images(config.at("data").get<std::string>());
  train::Plan plan = plan_of(config, data);
  plan.question = label.question;
  plan.name = label.name;
  plan.command = label.command;
  if (steps > 0) plan.steps = steps;
  const Program program = program_of(config);
  return program.is_the_library_s ? train::run(plan, path) : hand_loop(plan, program, path);
}

bool is_beginning_of(const train::Run& recorded, const train::Run& run) {
  const auto numbers_of = [](const train::LogRecord& step) {
    std::vector<std::uint64_t> bits;
    const auto add = [&](const char*, auto value) {
      const auto number = static_cast<double>(value);
      bits.push_back(std::isnan(number) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(number));
    };
    train::fields(step, add);
    train::sampled_fields(step, [&](std::string_view key, double value) {
      // Time differs; what a log has besides the step itself came later than the recorded ones, and changes
      // no bit of it.
      const auto later = {"grad_norm", "epoch", "seconds", "validation_loss", "metric"};
      if (std::ranges::find(later, key) == later.end()) add("", value);
    });
    return bits;
  };
  if (run.steps.empty() || run.steps.size() > recorded.steps.size()) return false;
  return std::ranges::equal(run.steps, std::span(recorded.steps).first(run.steps.size()), {}, numbers_of,
                            numbers_of);
}

}  // namespace tinymp::clinic
