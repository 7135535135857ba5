#pragma once

#include <string>
#include <vector>

namespace tinymp::lab {

/// The test MSE that one S ended at; NaN where training ended in NaN.
struct WindowPoint {
  int exponent;  ///< S = 2^exponent
  double mse;
};

/// One bar a line, as long as the error.
std::string window_bars(const std::vector<WindowPoint>& points);

/// The same as a still picture, an SVG that needs no style sheet. `fp32` and `mean_image` become lines
/// across.
std::string window_svg(const std::vector<WindowPoint>& points, double fp32, double mean_image);

}  // namespace tinymp::lab
