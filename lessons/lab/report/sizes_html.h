#pragma once

#include <lessons/lab/report/sizes.h>
#include <span>
#include <string>

/// The sizes of gradients and updates on a page.
namespace tinymp::report {

/// An <svg> in the manner of svg.h: bars in the look of curve `index` - hollow where FP16 loses them -,
/// FP16's limits as upright lines, the numbers in its aria-label.
std::string svg_bars(const Bars& bars, std::size_t index);

/// For each group that was looked at closely: bars, what they say, and in a fold a row for each parameter.
std::string sizes_html(std::span<const Group> groups);

}  // namespace tinymp::report
