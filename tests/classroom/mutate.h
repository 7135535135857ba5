#pragma once

#include <string>
#include <string_view>
#include <vector>

/// Automatic wrong versions: the reference with one thing changed, another operator, another constant, a
/// condition that always holds, a statement left out, another name. A check that lets one of them pass has a
/// hole, unless it computes the same.
namespace tinymp::classroom {

struct Mutant {
  std::string id;    ///< "25:12 > => >=": line and column in the region, what was there and what is now
  std::string text;  ///< the region with it
};

/// Those that change what is computed where they are, in the order of the text. Not all of them compile.
std::vector<Mutant> mutants_of(std::string_view region);
/// Each name in the place of another: many, and most do not compile. For regions that have few of the others.
std::vector<Mutant> renamed_mutants_of(std::string_view region);

}  // namespace tinymp::classroom
