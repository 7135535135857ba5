#pragma once

#include <filesystem>
#include <string>

namespace tinymp::classroom {

/// Reads a recorded run and draws it, in a process of its own that may use 1 GB and `seconds`: a log that a
/// program cannot bear ends that process and nothing else. Why it is left out; empty: it can be read.
std::string why_unreadable(const std::filesystem::path& path, double seconds = 20);

}  // namespace tinymp::classroom
