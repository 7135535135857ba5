#pragma once

#include <tinymp/tensor/indices.h>
#include <optional>

namespace tinymp {

/// B texts of T tokens each, one text after another, for a model of words or characters.
struct Texts {
  Indices tokens;          ///< (B T)
  std::int64_t steps = 0;  ///< T
  /// The places in 0 .. B T - 1 whose tokens the model is to name; without: all.
  std::optional<Indices> asked{};
  /// (B) of each text the tokens that are no padding, its first ones; without: all.
  std::optional<Indices> lengths{};
};

}  // namespace tinymp
