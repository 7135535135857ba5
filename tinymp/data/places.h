#pragma once

#include <filesystem>
#include <span>
#include <string>

/// Where the files of a data set lie: the search that all readers share.
namespace tinymp::data {

struct Source {
  const char* name;                    ///< what the user says: "fashion"
  const char* folder;                  ///< below each place that is searched
  const char* system;                  ///< the full path of a system package's copy, or null
  const char* fetch;                   ///< how to get it: "fetch it with ./learn data fashion"
  std::span<const char* const> files;  ///< what must be there, each plain or with .gz
};

/// The first folder that holds all files of `source`, of $TINYMP_DATA/FOLDER, datasets/FOLDER beside the
/// sources, $TINYMP_DATASETS/FOLDER and the system's. MissingError says for each of them what it lacks.
std::filesystem::path find_folder(const Source& source);

/// FILE or FILE.gz in `folder`; empty when neither is there.
std::string path_of(const std::filesystem::path& folder, const char* file);

/// How to get a good copy in place of a damaged one: the end of a reader's messages.
std::string mend_for(const Source& source, const std::filesystem::path& folder);

}  // namespace tinymp::data
