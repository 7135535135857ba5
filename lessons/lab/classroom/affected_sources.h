#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tinymp::classroom {

/// Returns the sources (.cpp, .cu, .cuh) under tinymp/, kernels/ and lessons/ of `root` that have to be
/// compiled again after the files `changed` have changed: the changed sources themselves, and every source
/// that includes a changed file, directly or through other headers. The paths are relative to `root` and
/// sorted. An #include counts inside a comment or an #if, too.
std::vector<std::string> affected_sources(const std::filesystem::path& root,
                                          const std::vector<std::string>& changed);

}  // namespace tinymp::classroom
