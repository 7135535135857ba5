#pragma once

#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/gpu_check.h>
#include <span>

/// The report of ./learn gpu-check: a JSON file for each device, and the same as a page of Markdown beside it.
namespace tinymp::lab::gpu_check {

const char* word_for(State state);
/// Whether a part of a report is good or left out: the others are run again.
bool has_ended(const nlohmann::ordered_json& done);
std::string file_name(const std::string& device);  ///< "NVIDIA H200" -> "nvidia-h200"

/// The machine, the build and the sources. Device, architecture and sources are the key: while they stay the same, a
/// finished part is not run again.
nlohmann::ordered_json heading(const kernels::bench::Machine& machine);

/// The report that lies at `path`, under this heading. One under another key becomes a part of "earlier": time on a GPU
/// is dear. A damaged one is moved aside, to NAME.json.damaged, which a
/// message says.
nlohmann::ordered_json read_report(const std::filesystem::path& path, const nlohmann::ordered_json& head);

/// Writes down what a part found, and returns that. Reads the report anew: the parts are processes of their own. Good
/// figures stay, as "before", when a repetition fails. Throws Error when it cannot be written.
nlohmann::ordered_json record(const std::filesystem::path& path, const nlohmann::ordered_json& head,
                              std::span<const Part> parts, const Part& part, const Finding& finding,
                              double seconds);

}  // namespace tinymp::lab::gpu_check
