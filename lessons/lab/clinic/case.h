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
  std::string log() const;    ///< path of the recorded run
};

/// All patients, sorted by number. Throws Error when a file is no config.
std::vector<Patient> patients();
/// The patient with this number or stem. Throws UsageError, which names the numbers there are.
Patient patient(const std::string& number);

Json answer_of(const Patient& patient);
Json read_json(const std::string& path);
std::string folder();  ///< lessons/clinic

/// The config after the cure: the fields of the answer's "cure" replace those of the config.
Json cured(const Patient& patient);

/// The plan of a config for train::run. It keeps a reference to `data`. Throws Error for an unknown word.
train::Plan plan_of(const Json& config, const data::Split& data);

/// The lines of a step as the owner wrote them, and how the config changes the loss and the step. The loop of
/// the library performs the usual lines with the fused loss, and runs a config that changes nothing.
/// hand_loop() runs the others.
struct Program {
  std::vector<std::string> step;
  bool separate_softmax = false;
  bool averages_move_in_forward = false;  ///< batch norm's averages move in forward, not with the step
  std::int64_t damaged_step = 0;          ///< the first pixel of this step's first image is replaced
  float damaged_pixel = 0;
  std::int64_t second_head_every =
      0;                             ///< each so many steps the second of two heads runs, and the first rests
  bool rolls_all_histories = false;  ///< own_scales.h
  std::vector<std::int64_t> micro_batches{};  ///< their samples; empty: a step is one batch
  bool mean_of_means = false;                 ///< each micro-batch counts alike
  bool is_the_library_s = true;
};
Program program_of(const Json& config);

/// The name of a run in its log.
struct Label {
  std::string question, name, command;
};
Label label_of(const Patient& patient, bool is_cured = false);

/// Runs a config and records the run at `path`. `steps`: 0 for all.
train::Run run(const Json& config, const Label& label, const std::string& path, std::int64_t steps = 0);

/// Whether `run`, which may be shorter, has the numbers of the recorded run, bit for bit.
bool is_beginning_of(const train::Run& recorded, const train::Run& run);

}  // namespace tinymp::clinic
