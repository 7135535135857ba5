#pragma once

#include <cstdint>

/// What exercise 13.1 is asked: the codes of `count` floats, whose bits are first, first + step, ...
namespace tinymp::exercise {

struct Floats {
  std::uint32_t first, step, count, saturates;
};

}  // namespace tinymp::exercise
