#pragma once

#include <lessons/lab/report/curves.h>
#include <string>

/// A still chart for a page: what is printed, and what is seen where scripts or dygraphs are missing.
namespace tinymp::report {

/// An <svg> that fills its box and keeps its text and lines at their size whatever that box is (positions are
/// in percent). Every curve is a group with data-curve="GROUP"; the numbers are in its aria-label.
std::string svg_chart(const Panel& panel);

/// The panel in words: "Training loss. FP32: 0.23 at step 1 to 0.0422 at step 400. ..."
std::string describe_panel(const Panel& panel);

}  // namespace tinymp::report
