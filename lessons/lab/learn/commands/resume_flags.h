#pragma once

#include <tinymp/train/loop.h>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
}

/// What ./learn train keeps of a run, and how it goes on with one.
namespace tinymp::lab {

struct ResumeFlags {
  std::int64_t save_every = 0, keep = 0;
  std::string resume;
  bool weights_only = false, hash = false;
  bool goes_on() const { return !resume.empty() && !weights_only; }
};

void add_resume_flags(CLI::App& app, ResumeFlags& flags);

/// Throws UsageError when a flag was given beside --resume that would make another run of it, or --weights-only
/// without --resume.
void check_resume_flags(const CLI::App& app, const ResumeFlags& flags);

/// The one log of the run that --resume names by its folder or a checkpoint in it. Throws UsageError when there are
/// none or several.
std::string log_to_resume(const std::string& resume);

/// "Goes on after step 300 of 1000.", or that the run begins anew. Throws Error when the checkpoint is none.
std::string where_it_goes_on(const std::string& resume, std::int64_t steps);

/// "./learn train --name 'a b'" -> {"train", "--name", "a b"}: undoes typed(), and leaves its TINYMP_EMULATE out. Throws
/// UsageError for the command of another program.
std::vector<std::string> arguments_of(const std::string& command);

/// A model of `plan` with the weights of a run or file that fit, and what was left of it, in lines.
struct StartingWeights {
  std::unique_ptr<nn::Model> model;
  std::vector<std::string> told;
};
StartingWeights starting_weights(const train::Plan& plan, const std::string& resume);

}  // namespace tinymp::lab
