#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tinymp::kernels::bench {

/// The machine that the figures come from: processor, cores, threads, instruction sets, compiler, commit,
/// date.
nlohmann::ordered_json cpu_machine();
/// The same in one line for the terminal.
std::string cpu_headline();

/// A warning when more threads want to run than there are cores, so that figures are not to be trusted; empty
/// otherwise.
std::string busy_warning();

}  // namespace tinymp::kernels::bench
