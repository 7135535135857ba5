#pragma once

#include <lessons/lab/report/curves.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Curves that coincide look like one, that of the last: pages and terminals say so in words.
namespace tinymp::report {

/// A point of a drawn curve, in dots of a terminal or parts of a picture.
struct Drawn {
  double x, y;
};

/// For each curve, in the order in which they are drawn, with their points from left to right: which later
/// one lies on it all along, no point farther than `near` above or below. The first, where there are several.
/// A single point is a marker, and still seen.
std::vector<std::optional<std::size_t>> covered_by(std::span<const std::vector<Drawn>> curves, double near);

/// "FP16 covers FP32: they coincide", a sentence for each that is covered on the page.
std::vector<std::string> covered_words(const Panel& panel);

}  // namespace tinymp::report
