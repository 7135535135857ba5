#pragma once

#include <tinymp/ops/ops.h>
#include <utility>
#include <vector>

/// How the running averages of batch norm (norm.h) follow the batches.
namespace tinymp::nn {

/// What one batch does to the averages of a layer.
struct AveragesMove {
  Tensor gamma;           ///< of the layer
  Tensor mean, variance;  ///< its averages
  BatchStatistics batch;
  double of_population = 1;  ///< B / (B - 1), which the variance of the batch is multiplied by

  /// Moves the averages when the optimizer of gamma takes its step; without an optimizer now.
  void stage() const;
};

/// Stages the move, or gives it to the HeldMoves of this thread.
void move_averages(AveragesMove move);

/// While it lives, forward passes of this thread move no averages: it holds the moves in their order. Where a step has more
/// micro-batches than this process sees, those of all processes are staged in the order of the micro-batches. One at a time.
class HeldMoves {
 public:
  HeldMoves();
  ~HeldMoves();
  HeldMoves(const HeldMoves&) = delete;
  HeldMoves& operator=(const HeldMoves&) = delete;

  const std::vector<AveragesMove>& all() const { return moves_; }

 private:
  friend void move_averages(AveragesMove move);
  std::vector<AveragesMove> moves_;
};

}  // namespace tinymp::nn
