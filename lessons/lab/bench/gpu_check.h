#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

/// ./learn gpu-check: everything that only a GPU can show, in parts of a few minutes. Under emulation the
/// same parts run on tiny sizes, so that they are tested where there is no GPU. Their times then mean
/// nothing.
namespace tinymp::lab::gpu_check {

struct Setting {
  bool emulated = false;
  std::filesystem::path programs{};  ///< folder of learn and the lessons
  std::filesystem::path tests{};     ///< folder of the test programs
  std::filesystem::path scratch{};   ///< folder for logs and runs
  std::string part{};                ///< name of the part

  double patience = 1;  ///< on all deadlines; the emulation is slower than a GPU

  /// When the part must be over: its rows are written at its end.
  std::optional<std::chrono::steady_clock::time_point> end{};

  /// So many seconds on a GPU, at most what is left of the part.
  double deadline(double seconds) const;
  bool is_over() const { return deadline(1) <= 0; }
};

enum class State { good, bad, left_out, unfinished };
/// Faults come before what the end of the part, or a deadline, has cut off.
constexpr State state_of(int faults, int cut_off) {
  return faults > 0 ? State::bad : cut_off > 0 ? State::unfinished : State::good;
}

/// The result of a part.
struct Finding {
  State state = State::good;
  std::string summary{};                          ///< one sentence
  std::vector<std::vector<std::string>> table{};  ///< the first row is the head; empty: no table
  nlohmann::ordered_json data{};                  ///< the figures
  bool unfinished = false;                        ///< some of it was cut off; given again it goes on
};

/// Adds a row of figures to the finding, and to a file: a part that is ended early loses none.
void keep(Finding& finding, const Setting& setting, nlohmann::ordered_json row);
/// The rows that keep() has written for this part since forget_rows(), oldest first.
nlohmann::ordered_json kept_rows(const Setting& setting);
/// The rows of a part that goes on where an earlier call was ended. First it takes the names that have no row; a call that
/// finds a row for each name repeats those that are not good.
class ResumedRows {
 public:
  using Json = nlohmann::ordered_json;
  ResumedRows(const Setting& setting, const std::vector<std::string>& names);
  /// The row of this name: the one before, or what `measure` returns, which is kept. `measure` takes the one before, or null,
  /// and adds "good": true or false. Null when the time of the part is over before there is one.
  Json row(const std::string& name, const std::function<Json(const Json& before)>& measure);

 private:
  const Setting* setting_;
  std::map<std::string, Json> before_;
  bool complete_;
};
void forget_rows(const Setting& setting);
/// Forgets them when they belong to another `key` than that of the last call: another device, or other kernels.
void forget_rows_of_others(const Setting& setting, const std::string& key);

struct Part {
  const char* name;
  const char* title;
  Finding (*run)(const Setting&);
  double deadline;       ///< seconds on a GPU
  bool resumes = false;  ///< after an interruption it measures only the rows that are missing or not good
};

// The parts, in check_*.cpp; gpu_check.cpp has their table.
Finding check_kernels(const Setting& setting);    ///< the test programs
Finding check_sanitizer(const Setting& setting);  ///< some of them under compute-sanitizer
Finding check_bits(const Setting& setting);       ///< tensor cores against the simulator
Finding check_gemm(const Setting& setting);       ///< the ladder and cuBLAS
Finding check_sweep(const Setting& setting);      ///< the best rung and cuBLAS, by size, layout and model
Finding check_launch(const Setting& setting);     ///< a launch, a launch in a graph, a value read back
Finding check_memory(const Setting& setting);     ///< kernels that only move data, compared with a copy
Finding check_lessons(const Setting& setting);    ///< each lesson on the GPU and on the CPU
Finding check_speed(const Setting& setting);      ///< FP16 and FP32, in steps a second

/// How a program ended.
struct Outcome {
  int code = 0;            ///< the exit code; -1: it could not be started
  int signal = 0;          ///< the signal that ended it
  bool timed_out = false;  ///< it was ended after its deadline, or not started because there was no time left
  bool good() const { return code == 0 && signal == 0 && !timed_out; }
  /// It ended by itself, so its last line tells how.
  bool said_something() const { return code >= 0 && signal == 0 && !timed_out; }
  double deadline = 0;  ///< in seconds
  /// "exit code 1", "ended by signal 11", "no end after 30 s", "cannot be started: is it built?"
  std::string text() const;
};
/// Runs a program to its end, or ends it after `deadline` seconds: a kernel that hangs would take all the time
/// that there is. Its output goes to `log`, or to our own output when `log` is empty.
Outcome run_program(const std::vector<std::string>& command, double deadline,
                    const std::filesystem::path& log = {});
std::string last_line_of(const std::filesystem::path& log);

/// The report of `./learn bench gemm FLAGS` in a process of its own. Null, with empty `fault`, when the rung does not
/// take the request; null with the fault when the process ends without a report.
nlohmann::ordered_json bench_gemm(const Setting& setting, const std::vector<std::string>& flags,
                                  std::string& fault);
/// Seconds of one call of a kernel on Device::cuda: the median of five rounds of launches, at most 1000 and a tenth of a
/// second each. Each round is waited for once, which takes as long as some launches: among 20 of them it would count.
double seconds_on_gpu(const Setting& setting, const std::function<void()>& run);
/// A figure of such a report: "12.3 %"; "-" when it is null.
std::string number(const nlohmann::ordered_json& value, const char* format, double unit = 1);

}  // namespace tinymp::lab::gpu_check
