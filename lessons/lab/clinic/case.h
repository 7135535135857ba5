#pragma once

#include <tinymp/train/loop.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// A patient of the clinic: a training run that went wrong, and the config that its owner shows.
///   cases/03_crawls.json    the config: model, data, recipe, optimizer, and what a step does, line by line
///   runs/03_crawls.jsonl    the recorded run
///   answers/03_crawls.json  cause, hints, cure, and why the other causes are wrong
namespace tinymp::clinic {

using Json = nlohmann::json;

struct Patient {
  int number = 0;
  std::string stem;  ///< "03_crawls"
  Json config;

  std::string name() const;   ///< "patient 3"
  std::string title() const;  ///< "Patient 3: crawls"
  std::string log() const;    ///< where the recorded run lies
};

/// By number. Throws Error where a file is no config.
std::vector<Patient> patients();
/// Throws UsageError that names the choices.
Patient patient(const std::string& number);

Json answer_of(const Patient& patient);
Json read_json(const std::string& path);
std::string folder();  ///< lessons/clinic

/// The config after the cure: what the answer gives replaces what the owner had.
Json cured(const Patient& patient);

/// What train::run wants of a config. Keeps a reference to `data`. Throws Error for what it does not know.
train::Plan plan_of(const Json& config, const data::Split& data);

/// The lines of a step, as the owner wrote them, how they get their loss, and what happens to them. The loop
/// of the library does these lines, and has the fused loss: a config that says nothing else runs there.
struct Program {
  std::vector<std::string> step;
  bool separate_softmax = false;
  bool averages_move_in_forward = false;  ///< batch norm's, instead of with the step
  std::int64_t damaged_step = 0;          ///< in which the first pixel of the first image has another value
  float damaged_pixel = 0;
  bool is_the_library_s = true;
};
Program program_of(const Json& config);

/// What a log calls its run.
struct Label {
  std::string question, name, command;
};
Label label_of(const Patient& patient, bool is_cured = false);

/// Runs a config, and records it at `path`. `steps`: 0 for all.
train::Run run(const Json& config, const Label& label, const std::string& path, std::int64_t steps = 0);

/// Whether a run, which may be shorter, has the numbers of a recorded one, bit for bit.
bool is_beginning_of(const train::Run& recorded, const train::Run& run);

}  // namespace tinymp::clinic
