#pragma once

#include <lessons/lab/learn/commands/train_flags.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// The trainings of a sweep, and what is recorded of them.
namespace tinymp::lab {

struct Cell {
  std::string name;     ///< "fp16_static-lr0.01-s2"
  std::string folder;   ///< OUT/NAME
  std::string log;      ///< in that folder
  std::string command;  ///< of one run, which repeats the cell
  std::unique_ptr<TypedCommand> typed;
  train::Plan plan;
  std::optional<train::Run> recorded{};  ///< what look_at() found: a run with a result, or one to go on with
};

/// "fp32,fp16_static" -> {"fp32", "fp16_static"}. Throws UsageError for an empty part, and for one that is there twice.
std::vector<std::string> parts_of_list(const std::string& flag, const std::string& list);

/// "0.001": as few digits as give the same float.
std::string text_of_lr(float lr);

/// The words of a command, {"train", "--lr", "0.1"}, without some options and their values, "--lr=0.1" too. Options in
/// `switches` have no value.
std::vector<std::string> without_options(const std::vector<std::string>& words,
                                         const std::vector<std::string>& options,
                                         const std::vector<std::string>& switches);

/// All cells of the command that `flags` were read from, seed by seed. Throws UsageError when one of them makes no run.
std::vector<Cell> cells_of(const TrainFlags& flags, const std::vector<std::string>& words);

/// Reads what lies in the folder of the cell, whose plan has its data. Throws UsageError when it is a run of another
/// request, and names the difference, when another program is writing it, and when there are several.
void look_at(Cell& cell);

}  // namespace tinymp::lab
