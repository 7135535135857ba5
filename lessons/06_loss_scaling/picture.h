#pragma once

#include <string>
#include <vector>

namespace tinymp::lab {

/// The test MSE after training with one S; NaN if training ended in NaN.
struct WindowPoint {
  int exponent;  ///< S = 2^exponent
  double mse;
};

/// Returns one line with a bar for each S. The length of a bar is in proportion to the error.
std::string window_bars(const std::vector<WindowPoint>& points);

/// Returns the points as a picture, an SVG that needs no style sheet. `fp32` and `mean_image` become horizontal
/// lines.
std::string window_svg(const std::vector<WindowPoint>& points, double fp32, double mean_image);

}  // namespace tinymp::lab
