#pragma once

/// What exercise 6.2 is asked, and what it answers.
namespace tinymp::exercise {

struct Unclipped {
  double squares;
  float max_norm, factor;
};

struct Clipped {
  float norm, factor;
};

}  // namespace tinymp::exercise
