#pragma once

#include <filesystem>
#include <string>

namespace tinymp::classroom {

/// Reads a recorded run and draws it, in a process of its own that may use 1 GB and `seconds`. A log that
/// crashes the reader ends that process and nothing else. Returns why the log is left out; empty: it can be
/// read.
std::string why_unreadable(const std::filesystem::path& path, double seconds = 20);

}  // namespace tinymp::classroom
