#pragma once

/// The requests and replies of exercise 6.2.
namespace tinymp::exercise {

struct Unclipped {
  double squares;
  float max_norm, factor;
};

struct Clipped {
  float norm, factor;
};

}  // namespace tinymp::exercise
