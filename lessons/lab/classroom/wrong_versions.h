#pragma once

#include <lessons/lab/classroom/exercise.h>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// A wrong version is the reference with one mistake, which the check has to reject. wrong.json, beside the
/// check, holds an exercise's wrong versions:
///
///     "never_below_1": {"says": "no lower bound", "edits": [["from", "to"], ...]}
///
/// A text is a string, or an array of its lines. A version that has little in common with the reference is a
/// file of its own: "file": "wrong/no_tile.cuh" instead of "edits".
namespace tinymp::classroom {

struct WrongVersion {
  std::string name;  ///< "never_below_1"
  std::string says;  ///< a regular expression: what the check answers
  std::string text;  ///< what stands in the region
};

/// Those of an exercise, by name. Throws Error when wrong.json is none, or an edit does not fit the
/// reference.
std::vector<WrongVersion> wrong_versions(const Exercise& exercise);

using Edit = std::pair<std::string, std::string>;  ///< from, to

/// `reference` with all edits made. Each `from` has to stand in it exactly once, and no two may overlap:
/// Error otherwise, which begins with `name` and says which edit.
std::string edited(std::string_view reference, const std::vector<Edit>& edits, const std::string& name);

}  // namespace tinymp::classroom
