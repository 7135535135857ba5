#pragma once

#include <lessons/lab/report/curves.h>
#include <lessons/lab/report/table.h>
#include <optional>
#include <string>
#include <vector>

/// The sizes of gradients and updates (train/histogram.h) as terminal and page show them: bars, sentences,
/// tables.
namespace tinymp::report {

/// What is shown of a group: of the first run that was looked at, the last step whose gradients were finite
/// in FP32. (Where a run has ended in NaN there is nothing left to see.)
struct LastSizes {
  const Run* run;
  const train::StepSizes* sizes;
};
std::optional<LastSizes> last_sizes(const Group& group);

/// A bar for each power of two, and lines where FP16 ends.
struct Bars {
  struct Region {
    int from, to;          ///< exponents, both inside
    std::string name;      ///< "subnormal"
    bool is_lost = false;  ///< drawn hollow
  };
  std::string title{};                 ///< "Sizes of the gradients"
  std::string of{};                    ///< "FP16, S = 1, step 400, seed 0"
  int first = 0;                       ///< exponent of counts[0]; smaller ones are counted there
  std::vector<std::int64_t> counts{};  ///< the last holds all larger ones, too
  std::int64_t total = 0;              ///< what 100 % is
  std::vector<Region> regions{};       ///< side by side; between two of them stands a line
  bool upper_edge_inside = false;      ///< bar e ends at 2^e; else it begins there
  std::vector<std::string> words{};    ///< what it says, in whole sentences

  int last() const { return first + static_cast<int>(counts.size()) - 1; }
  const Region& region_of(int exponent) const;
  double share(int exponent) const;
  double highest() const;  ///< the largest share
};

/// |g S| of all parameters, on the ground of FP16's window.
Bars gradient_bars(const LastSizes& look, const std::string& name);
/// |w / update|, with 2048 marked; empty when no update was looked at.
std::optional<Bars> update_bars(const LastSizes& look, const std::string& name);

/// A row for each parameter, and one for all. The last column tells what 8 times the S would save, or less of
/// it where 8 times is too much; where any more is, how many overflow.
Table gradient_table(const train::StepSizes& sizes);
inline constexpr const char* gradient_notes =
    "flushed: zero in this run, not in FP32; too small: FP32 has it, and FP16 rounds it to zero.";
Table update_table(const train::StepSizes& sizes);

/// What FP8 lost on the way into products: a row for each kind of tensor. Without rows in a run without such products.
Table eight_bit_table(const train::StepSizes& sizes);
/// "FP8 on the way into products: hybrid, step 400, seed 0"
std::string eight_bit_title(const LastSizes& look, const std::string& name);
inline constexpr const char* eight_bit_notes =
    "Of the values that are finite and not 0. Beyond the end: above the largest number of the format, which "
    "they became, "
    "or infinity, or NaN.";

}  // namespace tinymp::report
