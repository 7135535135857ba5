#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// From the numbers of a text to what a language model sees: blocks of tokens with those that follow.
namespace tinymp::data {

/// B rows of T tokens, and for each the one that follows it in the text.
struct TextBlock {
  std::int64_t rows = 0, steps = 0;               ///< B, T
  std::vector<std::int32_t> tokens{}, targets{};  ///< (B,T), row after row
  bool first = false;                             ///< the rows begin here: a carried state must be forgotten
};

/// Cuts a part of a text into B streams of equal length, one a row, and gives them T tokens at a time:
///
///   tokens 0 1 2 ... 24, B = 2, T = 5:   row 0 reads 0..4, then 5..9;  row 1 reads 12..16, then 17..21
///
/// Row b of a block goes on where row b of the block before ended, so a recurrent state may be carried over
/// (without its gradient); `first` says when it may not, because the streams began anew. Nothing is drawn: a
/// seed changes the first weights alone. What fills no block at the end of a stream (10 and 11 above) is
/// left out.
class TextLoader {
 public:
  /// Keeps a view of `tokens`. Throws UsageError unless at least one block can be made.
  TextLoader(std::span<const std::int32_t> tokens, std::int64_t rows, std::int64_t steps);
  TextLoader(std::vector<std::int32_t>&&, std::int64_t, std::int64_t) = delete;  // the view would dangle

  TextBlock next();
  std::int64_t epoch() const { return epoch_; }  ///< of the block that next() gives, from 0
  std::int64_t blocks_per_epoch() const { return (stream_ - 1) / steps_; }

 private:
  std::span<const std::int32_t> tokens_;
  std::int64_t rows_, steps_, stream_;  ///< stream_: tokens a row, one more than are read
  std::int64_t epoch_ = 0, drawn_ = 0;
};

}  // namespace tinymp::data
