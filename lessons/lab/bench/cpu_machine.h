#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace tinymp::kernels::bench {

/// What figures of this CPU are of: processor, cores, threads, instruction sets, compiler, commit, date.
nlohmann::ordered_json cpu_machine();
/// The same in a line for the terminal.
std::string cpu_headline();

/// Empty unless more wants to run than there are cores: then the figures are not to be trusted.
std::string busy_warning();

}  // namespace tinymp::kernels::bench
