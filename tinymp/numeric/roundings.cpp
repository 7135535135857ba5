#include <tinymp/numeric/roundings.h>
#include <array>

namespace tinymp {
namespace {

constexpr std::array in_recipes{Rounding::nearest_even, Rounding::toward_zero, Rounding::stochastic};

}  // namespace

std::string_view name_of(Rounding rounding) {
  switch (rounding) {
    case Rounding::nearest_even:
      return "nearest";
    case Rounding::toward_zero:
      return "zero";
    case Rounding::up:
      return "up";
    case Rounding::down:
      return "down";
    case Rounding::stochastic:
      return "stochastic";
  }
  return "";
}

std::optional<Rounding> rounding_named(std::string_view name) {
  for (const Rounding rounding : in_recipes)
    if (name_of(rounding) == name) return rounding;
  return std::nullopt;
}

std::vector<std::string> rounding_names() {
  std::vector<std::string> names;
  for (const Rounding rounding : in_recipes) names.emplace_back(name_of(rounding));
  return names;
}

}  // namespace tinymp
