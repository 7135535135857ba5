#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// ./learn gpu-check: everything that only a GPU can show, in parts of a few minutes. Under emulation the
/// same parts run on tiny sizes, so that they are tested where there is no GPU. Their times then mean
/// nothing.
namespace tinymp::lab::gpu_check {

struct Setting {
  bool emulated = false;
  std::filesystem::path programs;  ///< folder of learn and the lessons
  std::filesystem::path tests;     ///< folder of the test programs
  std::filesystem::path scratch;   ///< folder for logs and runs
};

enum class State { good, bad, left_out };

/// The result of a part.
struct Finding {
  State state = State::good;
  std::string summary{};                          ///< one sentence
  std::vector<std::vector<std::string>> table{};  ///< the first row is the head; empty: no table
  nlohmann::ordered_json data{};                  ///< the figures
};

struct Part {
  const char* name;
  const char* title;
  Finding (*run)(const Setting&);
};

// The parts, in check_*.cpp; gpu_check.cpp has their table.
Finding check_kernels(const Setting& setting);    ///< the test programs
Finding check_sanitizer(const Setting& setting);  ///< some of them under compute-sanitizer
Finding check_bits(const Setting& setting);       ///< tensor cores against the simulator
Finding check_gemm(const Setting& setting);       ///< the ladder and cuBLAS
Finding check_memory(const Setting& setting);     ///< kernels that only move data, compared with a copy
Finding check_lessons(const Setting& setting);    ///< each lesson on the GPU and on the CPU
Finding check_speed(const Setting& setting);      ///< FP16 and FP32, in steps a second

/// Runs a program to its end. Its output goes to `log`, or to our own output when `log` is empty. Returns the
/// exit code, or -1 when it cannot be started.
int run_program(const std::vector<std::string>& command, const std::filesystem::path& log = {});
std::string last_line_of(const std::filesystem::path& log);

}  // namespace tinymp::lab::gpu_check
