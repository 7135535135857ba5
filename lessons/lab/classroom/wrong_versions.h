#pragma once

#include <lessons/lab/classroom/exercise.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A wrong version is the reference with one mistake. The check has to reject it. The file wrong.json beside
/// the check holds the wrong versions of an exercise:
///
///     "never_below_1": {"says": "no lower bound", "edits": [["from", "to"], ...]}
///
/// A text is a string, or an array of its lines. A version that has little in common with the reference lies
/// in a file of its own: "file": "wrong/no_tile.cuh" instead of "edits".
namespace tinymp::classroom {

struct WrongVersion {
  std::string name;  ///< "never_below_1"
  std::string says;  ///< a regular expression for the check's message
  std::string text;  ///< the text of the region
};

/// The wrong versions of an exercise, by name. Throws Error when wrong.json is not valid, or an edit does not
/// fit the reference.
std::vector<WrongVersion> wrong_versions(const Exercise& exercise);

using Edit = std::pair<std::string, std::string>;  ///< from, to

/// Returns `reference` with all edits made. Each `from` has to occur in it exactly once, and no two may
/// overlap. Otherwise throws Error, which begins with `name` and names the edit.
std::string edited(std::string_view reference, const std::vector<Edit>& edits, const std::string& name);

}  // namespace tinymp::classroom
