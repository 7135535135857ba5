#pragma once

#include <kernels/step.h>
#include <tinymp/tensor/tensor.h>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

/// ZeRO stage 1 (Rajbhandari et al. 2020, arXiv 1910.02054): of masters and moments each process that trains a model keeps a
/// part, and updates that alone. Weights and gradients stay whole.
namespace tinymp {

/// How an arena is shared, and what processes do together for it. All call the same functions in the same order.
class Shards {
 public:
  struct Range {
    std::int64_t begin = 0, end = 0;
    std::int64_t size() const { return end - begin; }
  };

  /// Cuts an arena into `count` ranges, equally many chunks of kernels::lane_chunk values each, give or take one: sums of
  /// squares are made chunk by chunk, so the norm keeps its bits. This process has range `own`.
  Shards(std::int64_t size, int count, int own);
  virtual ~Shards() = default;
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  const std::vector<Range>& ranges() const { return ranges_; }
  std::size_t own_number() const { return own_; }
  const Range& own() const { return ranges_[own_]; }
  std::int64_t size() const { return ranges_.back().end; }  ///< of the whole arena
  std::vector<Range> chunks() const;                        ///< the same ranges, counted in chunks

  /// Gives all processes all of a block on the CPU, of which each has its own one of these ranges.
  virtual void all_gather(const View& block, const std::vector<Range>& ranges) const = 0;
  /// Adds up what each process has counted, for all.
  virtual void sum(std::span<std::int64_t> counts) const = 0;

  /// Returns the whole arena, of which each process gives its own range, to the first process; to others an empty tensor.
  /// Call begin_collecting() before.
  virtual Tensor collect(const Tensor& own) const = 0;
  /// The first process may do so between any two steps: it tells the others, which then call the same.
  virtual void begin_collecting() const = 0;

 private:
  std::vector<Range> ranges_;
  std::size_t own_;
};

/// Makes what this process has found among its own gradients what all have found: then all take the step, or none does.
void agree(const Shards& shards, kernels::GradientCounts& found);

}  // namespace tinymp
