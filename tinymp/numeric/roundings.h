#pragma once

#include <tinymp/numeric/small_float_codec.h>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// How the numbers of a run are rounded to their narrow formats, for each kind of tensor.
namespace tinymp {

struct Roundings {
  Rounding weights = Rounding::nearest_even;      ///< of a master into the weights
  Rounding activations = Rounding::nearest_even;  ///< on the way into a product
  Rounding errors = Rounding::nearest_even;       ///< of activations, on the way into a product of backward
  Rounding gradients = Rounding::nearest_even;    ///< of parameters, where they are stored
  Rounding masters = Rounding::nearest_even;      ///< of what the optimizer updates
  bool operator==(const Roundings&) const = default;
};

/// One of them: its word in a description and in a flag, its key in a run log, and what --help says of it.
struct RoundingField {
  const char *name, *key, *help;
  Rounding Roundings::*member;
};
inline constexpr RoundingField rounding_fields[] = {
    {"weights", "round_weights", "a master into the weights", &Roundings::weights},
    {"activations", "round_activations", "activations on the way into a product", &Roundings::activations},
    {"errors", "round_errors", "errors on the way into a product", &Roundings::errors},
    {"gradients", "round_gradients", "gradients of the parameters", &Roundings::gradients},
    {"masters", "round_masters", "what the optimizer updates", &Roundings::masters}};

/// "nearest", "zero", "stochastic"; of Rounding::up and Rounding::down "up" and "down".
std::string_view name_of(Rounding rounding);
/// What a recipe may name: nearest, zero and stochastic. Empty for another text.
std::optional<Rounding> rounding_named(std::string_view name);
/// The names that rounding_named() takes.
std::vector<std::string> rounding_names();

}  // namespace tinymp
