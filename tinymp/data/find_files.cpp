#include <tinymp/base/error.h>
#include <tinymp/data/find_files.h>
#include <cstdlib>
#include <vector>

namespace tinymp::data {
namespace {

namespace fs = std::filesystem;

/// Returns the folders where `source` may lie, in the order of the search.
std::vector<fs::path> places(const Source& source) {
  std::vector<fs::path> found;
  const auto add_below = [&](const char* root) {
    if (root != nullptr && *root != '\0') found.push_back(fs::path(root) / source.folder);
  };
  add_below(std::getenv("TINYMP_DATA"));
#ifdef TINYMP_SOURCE_DIR
  add_below(TINYMP_SOURCE_DIR "/datasets");
#endif
  add_below(std::getenv("TINYMP_DATASETS"));
  if (source.system != nullptr) found.emplace_back(source.system);
  return found;
}

/// A link that leads nowhere, or in a circle: the user wanted that copy, so no other is taken in its place.
void refuse_broken_links(const Source& source, const fs::path& folder) {
  std::vector<fs::path> paths{folder.parent_path(), folder};
  for (const char* file : source.files)
    for (const char* suffix : {"", ".gz"}) paths.push_back(folder / (std::string(file) + suffix));
  for (const fs::path& path : paths) {
    std::error_code ignored;
    if (fs::is_symlink(fs::symlink_status(path, ignored)) && !fs::exists(path, ignored))
      throw MissingError(concat("the data set \"", source.name, "\": ", path.string(),
                                " is a link that leads nowhere; mend it, or remove it"));
  }
}

}  // namespace

std::string path_of(const std::filesystem::path& folder, const char* file) {
  for (const char* suffix : {"", ".gz"}) {
    const fs::path path = folder / (std::string(file) + suffix);
    std::error_code ignored;
    if (fs::exists(path, ignored)) return path.string();
  }
  return {};
}

std::filesystem::path find_folder(const Source& source) {
  std::error_code closed;
  if (const char* data = std::getenv("TINYMP_DATA");
      data != nullptr && *data != '\0' && !fs::is_directory(data, closed))
    throw MissingError(
        concat("TINYMP_DATA names ", data, ", which is no folder that can be read; mend it, or unset it"));
  std::string looked;
  for (const fs::path& folder : places(source)) {
    refuse_broken_links(source, folder);
    std::string lacking;
    int there = 0;
    for (const char* file : source.files) {
      if (path_of(folder, file).empty())
        lacking += (lacking.empty() ? "" : ", ") + std::string(file);
      else
        ++there;
    }
    if (lacking.empty()) return folder;
    looked += "\n  " + folder.string() + (there > 0 ? " (lacks " + lacking + ")" : "");
  }
  if (looked.empty())
    looked = "\n  nowhere: set TINYMP_DATA to a folder that holds " + std::string(source.folder) + "/";
  throw MissingError(
      concat("the data set \"", source.name, "\" is not here; ", source.fetch, ". Looked in:", looked));
}

std::string mend_for(const Source& source, const fs::path& folder) {
  if (source.system != nullptr && folder == fs::path(source.system))
    return "install dataset-fashion-mnist again, or ./learn data fashion";
  if (source.name == std::string("cut")) return "take datasets/fashion-mnist-cut from a fresh copy of tinymp";
  return concat("fetch it again with ./learn data ", source.name);
}

}  // namespace tinymp::data
