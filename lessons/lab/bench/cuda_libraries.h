#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tinymp::kernels::bench {

/// The files of a library of CUDA, "libcublas.so.13" for one, where the loader does not look by itself: in the folder
/// that `variable` names, in the toolkit (CUDA_PATH, CUDA_HOME, /usr/local/cuda), and among the packages of the first
/// python3 on the PATH, since PyTorch brings its own. The newest version of each place comes first.
std::vector<std::filesystem::path> cuda_libraries(const std::string& name, const char* variable);

}  // namespace tinymp::kernels::bench
