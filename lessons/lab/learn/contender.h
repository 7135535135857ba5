#pragma once

#include <tinymp/numeric/recipe.h>
#include <string>

namespace tinymp::lab {

/// One curve of an experiment: the name it has everywhere, and its recipe.
struct Contender {
  std::string name;
  Recipe recipe;
};

}  // namespace tinymp::lab
