#include <lessons/lab/bench/cuda_libraries.h>
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <system_error>

namespace tinymp::kernels::bench {
namespace {

namespace fs = std::filesystem;

std::string value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// "libcublas.so.9" comes before "libcublas.so.13": digits count as numbers.
bool is_older(const fs::path& a, const fs::path& b) {
  const std::string x = a.filename().string(), y = b.filename().string();
  return strverscmp(x.c_str(), y.c_str()) < 0;
}

/// The entries of a folder whose names begin so, the newest version first.
std::vector<fs::path> entries(const fs::path& folder, const std::string& begin) {
  std::vector<fs::path> found;
  std::error_code none;
  for (fs::directory_iterator i(folder, none), end; !none && i != end; i.increment(none))
    if (i->path().filename().string().starts_with(begin)) found.push_back(i->path());
  std::ranges::sort(found, [](const fs::path& a, const fs::path& b) { return is_older(b, a); });
  return found;
}

/// The folders of NVIDIA's wheels: BIN/../lib/python3.12/site-packages/nvidia/cu13/lib.
std::vector<fs::path> wheels() {
  std::istringstream path(value_of("PATH"));
  std::error_code none;
  for (std::string bin; std::getline(path, bin, ':');) {
    if (bin.empty() || !fs::exists(fs::path(bin) / "python3", none)) continue;
    std::vector<fs::path> found;
    for (const fs::path& python : entries(fs::path(bin) / "../lib", "python3"))
      for (const char* const packages : {"site-packages", "dist-packages"})
        for (const fs::path& wheel : entries(python / packages / "nvidia", ""))
          found.push_back(wheel / "lib");
    return found;
  }
  return {};
}

}  // namespace

std::vector<fs::path> cuda_libraries(const std::string& name, const char* variable) {
  std::vector<fs::path> folders{value_of(variable)};
  for (const std::string& toolkit :
       {value_of("CUDA_PATH"), value_of("CUDA_HOME"), std::string("/usr/local/cuda")}) {
    if (toolkit.empty()) continue;
    for (const char* const lib : {"lib64", "lib", "targets/x86_64-linux/lib"})
      folders.push_back(fs::path(toolkit) / lib);
  }
  const std::vector<fs::path> python = wheels();
  folders.insert(folders.end(), python.begin(), python.end());
  std::vector<fs::path> files;
  for (const fs::path& folder : folders) {
    if (folder.empty()) continue;
    for (const fs::path& file : entries(folder, name))
      if (std::ranges::find(files, file) == files.end()) files.push_back(file);
  }
  return files;
}

}  // namespace tinymp::kernels::bench
