#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tinymp::classroom {

/// The sources (.cpp, .cu, .cuh) under tinymp/, kernels/ and lessons/ of `root` that are another program when
/// the files `changed` are: these themselves, and all that include one of them, however far down. Paths are
/// relative to `root`, in order. An #include counts wherever it stands, in a comment or an #if too.
std::vector<std::string> affected_sources(const std::filesystem::path& root,
                                          const std::vector<std::string>& changed);

}  // namespace tinymp::classroom
