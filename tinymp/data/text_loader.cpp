#include <tinymp/base/error.h>
#include <tinymp/data/text_loader.h>

namespace tinymp::data {

TextLoader::TextLoader(std::span<const std::int32_t> tokens, std::int64_t rows, std::int64_t steps)
    : tokens_(tokens), rows_(rows), steps_(steps), stream_(0) {
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (rows >= 1) stream_ = count / rows;
  if (rows < 1 || steps < 1 || stream_ <= steps)
    throw UsageError(concat("no block of ", rows, " rows x ", steps, " steps can be cut from ", count,
                            " tokens; each row takes one token more than it has steps"));
}

TextBlock TextLoader::next() {
  TextBlock block{.rows = rows_, .steps = steps_, .first = drawn_ == 0};
  for (std::int64_t row = 0; row < rows_; ++row) {
    const auto begin = static_cast<std::size_t>(row * stream_ + drawn_ * steps_);
    const auto count = static_cast<std::size_t>(steps_);
    const std::span<const std::int32_t> read = tokens_.subspan(begin, count);
    const std::span<const std::int32_t> ahead = tokens_.subspan(begin + 1, count);
    block.tokens.insert(block.tokens.end(), read.begin(), read.end());
    block.targets.insert(block.targets.end(), ahead.begin(), ahead.end());
  }
  if (++drawn_ == blocks_per_epoch()) {
    drawn_ = 0;
    ++epoch_;
  }
  return block;
}

}  // namespace tinymp::data
