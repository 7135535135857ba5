#pragma once

#include <filesystem>
#include <span>
#include <string>

/// Finds the files of a data set. All readers share this search.
namespace tinymp::data {

struct Source {
  const char* name;                    ///< the name on the command line: "fashion"
  const char* folder;                  ///< below each place that is searched
  const char* system;                  ///< the full path of a system package's copy, or null
  const char* fetch;                   ///< how to get it: "fetch it with ./learn data fashion"
  std::span<const char* const> files;  ///< the files that the folder must have, each plain or with .gz
};

/// Returns the first folder that holds all files of `source`. It looks in $TINYMP_DATA/FOLDER,
/// datasets/FOLDER beside the sources, $TINYMP_DATASETS/FOLDER and `system`.
/// MissingError says what each of them lacks.
std::filesystem::path find_folder(const Source& source);

/// Returns the path of FILE or FILE.gz in `folder`; empty when neither exists.
std::string path_of(const std::filesystem::path& folder, const char* file);

/// How to get a good copy in place of a damaged one: the end of a reader's messages.
std::string mend_for(const Source& source, const std::filesystem::path& folder);

}  // namespace tinymp::data
