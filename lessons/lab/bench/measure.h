#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// The measurements are a program of their own, so that a build for training skips them.
namespace tinymp::lab {

// argv[0] is the command itself; each returns the exit code.
int bench_command(int argc, char** argv);
int gpu_check_command(int argc, char** argv);

// The measurements of bench on this CPU.
int bench_all(int argc, char** argv);
int bench_cpu_gemm(int argc, char** argv);
int bench_steps(int argc, char** argv);
int bench_telemetry(int argc, char** argv);
int bench_ranks(int argc, char** argv);
int bench_micro(int argc, char** argv);
/// `product` is what count_gemm (bench/count) takes.
int bench_count(const std::vector<std::string>& product, const std::string& title, bool plain);

/// Writes the file of --out; throws Error when it cannot be written.
void write_json(const std::string& path, const nlohmann::ordered_json& json);

}  // namespace tinymp::lab
