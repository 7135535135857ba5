#pragma once

#include <tinymp/dist/collectives.h>
#include <tinymp/optim/shards.h>
#include <cstdint>
#include <memory>
#include <vector>

/// ZeRO stage 1 over ranks: Plan::zero. Rank 0 is the run: at its own moments it wants the state of all, for a checkpoint, a
/// histogram or the search for a fault. So it tells the others what comes next: a step, its wish, or the end.
namespace tinymp::train {

class RankShards final : public Shards {
 public:
  RankShards(dist::Transport& ranks, std::int64_t size);

  void all_gather(const View& block, const std::vector<Range>& ranges) const override;
  void sum(std::span<std::int64_t> counts) const override;
  Tensor collect(const Tensor& own) const override;
  void begin_collecting() const override { tell(Next::state); }

  enum class Next : std::uint8_t { step, state, end };
  void tell(Next next) const;  ///< rank 0 tells all others; of another rank it does nothing
  Next hear() const;           ///< what rank 0 has told; of others
  /// After the last step. Takes a number of each rank, and returns them all.
  std::vector<std::int64_t> end(std::int64_t own) const;

  std::vector<dist::Owned> owned() const;

 private:
  dist::Transport& ranks_;
};

}  // namespace tinymp::train
