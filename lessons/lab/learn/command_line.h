#pragma once

#include <lessons/lab/learn/lab.h>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

/// What all command lines share: flags, how a wrong one ends, how an exception ends.
namespace tinymp::lab {

/// --out, --plain, --open: where results go and how they look.
void add_output_flags(CLI::App& app, Options& options);
/// What --data may name, and in words what is taken without it.
struct DataChoice {
  std::vector<std::string> names = {"mnist", "fashion", "cut"};
  std::string otherwise{};
  bool folders = false;  ///< folder:PATH, too
};
DataChoice data_of(const Lesson& lesson);

/// --mine. The launcher has built with the pieces by then; a program without any refuses it.
void add_mine_flag(CLI::App& app);
/// --data, --threads, --live, --device.
void add_training_flags(CLI::App& app, Options& options, const DataChoice& data);
/// --seeds, --first-seed, --smoke.
void add_experiment_flags(CLI::App& app, Options& options);

/// Checks of a value, before it is converted: NaN passes none of them.
CLI::Validator positive();                                  ///< a finite number above 0
CLI::Validator fraction();                                  ///< from 0 on, below 1
CLI::Validator not_negative();                              ///< a finite number, 0 or above
CLI::Validator whole(std::int64_t low, std::int64_t high);  ///< an integer, low .. high

/// Empty: go on. Otherwise the exit code: 0 after --help, 2 after one line that says what is wrong.
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv);

/// The command line of a lesson, into `options`: the same answer.
std::optional<int> read_lesson_options(const Lesson& lesson, Options& options, int argc, char** argv);
/// The one of ./learn quickstart, which has fewer flags.
std::optional<int> read_quickstart_options(const Lesson& lesson, Options& options, int argc, char** argv);

/// Runs `work` and returns its exit code. An exception becomes one message on stderr, "learn: ...", and the
/// exit code of error.h. Checks the float environment first, and at the end whether all output could be
/// written.
int guarded(const std::function<int()>& work);

/// One of `known` that `typed` begins, or that is within two edits of it; empty when none is.
std::string nearest(std::string_view typed, std::span<const std::string> known);

/// "06_loss_scaling" -> "6"; empty when it does not begin with a number.
std::string lesson_number(std::string_view name);

/// How a user starts it again: "./learn run 6", "./learn quickstart".
std::string command_of(const Lesson& lesson);
/// The same with its arguments, quoted for a shell, and with TINYMP_EMULATE in front where that is set.
std::string typed(const std::string& command, int argc, const char* const* argv);

}  // namespace tinymp::lab
