#pragma once

#include <kernels/formulas/window.h>
#include <ostream>
#include <vector>

/// Convolutions of all kinds: few and many channels, windows that hang over, move on in steps, or miss pixels.
namespace tinymp::test {

struct ConvProblem {
  Shape x;
  std::int64_t outputs;
  kernels::Window window;

  Shape w() const { return {window.height, window.width, x[3], outputs}; }
  Shape y() const {
    return {x[0], kernels::places(x[1], window.height, window), kernels::places(x[2], window.width, window),
            outputs};
  }
};

inline std::ostream& operator<<(std::ostream& out, const ConvProblem& p) {
  return out << p.x << " -> " << p.y() << ", " << p.window.height << " x " << p.window.width << ", stride "
             << p.window.stride << ", padding " << p.window.padding;
}

/// On the CPU tiles have up to 16 rows and 32 columns, a weight gradient groups of 8 images.
inline std::vector<ConvProblem> conv_problems() {
  return {{{1, 1, 1, 1}, 1, {1, 1}},          {{3, 6, 7, 3}, 5, {3, 3, 1, 1}},
          {{2, 28, 28, 1}, 6, {5, 5, 1, 2}},  {{9, 14, 14, 6}, 16, {5, 5}},
          {{17, 4, 4, 16}, 16, {3, 3, 1, 1}}, {{2, 8, 8, 33}, 34, {3, 3, 1, 1}},
          {{2, 9, 8, 16}, 32, {3, 3, 2, 1}},  {{1, 7, 40, 2}, 65, {1, 1}},
          {{2, 5, 6, 4}, 3, {1, 1, 2}},       {{2, 11, 13, 3}, 4, {2, 3, 3, 1}},
          {{1, 3, 3, 2}, 2, {3, 3, 1, 4}},  // windows of zeros alone
          {{1, 2, 2, 2}, 3, {4, 5, 2, 2}},  // larger than the image
          {{1, 9, 9, 2}, 3, {3, 2, 4, 0}},  // pixels that no window holds
          {{0, 5, 5, 2}, 3, {3, 3}}};
}

}  // namespace tinymp::test
