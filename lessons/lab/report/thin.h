#pragma once

#include <lessons/lab/report/curves.h>
#include <cstddef>
#include <span>

/// Fewer points, so that a page stays small.
namespace tinymp::report {

/// Steps in equal windows, `width` steps each; a window's points become one, their mean, in its middle. The band keeps
/// its extremes.
struct Windows {
  double first = 0, last = 0;  ///< steps
  double width = 1;
};
Curve thin(const Curve& curve, Quantity quantity, const Windows& windows);

/// Windows over all steps of a panel, at most so many.
Windows windows_of(const Panel& panel, std::size_t most);

/// Leaves out the points of a held quantity at which nothing changes, except the first and the last: no value is lost.
Curve without_repeats(const Curve& curve);

/// Thins the panels of a page together: they hold about `most_numbers`, and none gets fewer than 100 points.
/// Panels that need it not stay whole; returns the largest number of steps that one point stands for, 1 where
/// all are whole.
std::size_t thin_for_page(std::span<Panel> panels, std::size_t most_numbers);

/// How many numbers a page of so many curves may hold: 20 runs of 2,000 steps stay below 2 MB, 100 runs below 5.
std::size_t numbers_of_a_page(std::size_t curves);

/// The points of one panel that are drawn at most, so that it stays quick; also what a panel is thinned to before the
/// others are known.
inline constexpr std::size_t most_points = 4000;

}  // namespace tinymp::report
