#pragma once

#include <tinymp/numeric/recipe.h>
#include <string>

namespace CLI {
class App;
class Validator;
}  // namespace CLI

/// A recipe from the command line: one that has a name, and a flag for each of its fields.
namespace tinymp::lab {

struct RecipeFlags {
  std::string recipe = "fp32";
  std::string scaling;  ///< empty: as the named recipe has it
};

void add_recipe_flags(CLI::App& app, RecipeFlags& flags);

/// Throws UsageError for an unknown name, and for a flag that the chosen scaling has no use for.
Recipe recipe_from_flags(const CLI::App& app, const RecipeFlags& flags);

/// Checks of the values of a policy.
CLI::Validator inside(double above, double below);  ///< a number between the two; after positive()
CLI::Validator scale_floors();                      ///< at least one floor: 40000:8192,150000:32768

/// The recipe's name and what was changed: "fp16_static, state f16, S 8".
std::string recipe_title(const CLI::App& app, const RecipeFlags& flags);

/// For --help: a line each, the name and what it keeps where.
std::string recipe_list();

}  // namespace tinymp::lab
