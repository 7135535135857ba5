#pragma once

#include <lessons/lab/report/curves.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// What terminal and page say in words about curves.
namespace tinymp::report {

/// A value as the panel's axis counts it: "83 %", "2^24", "0.0422".
std::string value_text(const Panel& panel, double value);

/// The panel in words, for a page that is read aloud: "Training loss against the step. FP32: 0.23 at step 1,
/// 0.0422 at step 400. ..."
std::string describe_panel(const Panel& panel);

/// Where the first infinity or NaN of a recipe came from.
struct FindingLine {
  std::size_t group;
  std::int64_t step;
  std::string text;  ///< "FP16, S = 2^24: Step 1, backward: ..."
};

/// Where several seeds found something, the first speaks for them and they are counted.
std::vector<FindingLine> finding_lines(std::span<const Group> groups);

/// A point of a drawn curve, in dots of a terminal or parts of a picture.
struct Drawn {
  double x, y;
};

/// Curves that coincide look like one, that of the last. For each curve, in the order in which they are
/// drawn, with their points from left to right: which later one lies on it all along, no point farther than
/// `near` above or below. The first, where there are several. A single point is a marker, and still seen.
std::vector<std::optional<std::size_t>> covered_by(std::span<const std::vector<Drawn>> curves, double near);

/// "FP16 covers FP32: they coincide", a sentence for each curve that is covered on the page.
std::vector<std::string> covered_words(const Panel& panel);

}  // namespace tinymp::report
