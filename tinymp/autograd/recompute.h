#pragma once

#include <tinymp/autograd/tape.h>
#include <any>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

/// Recomputation, also called gradient checkpointing: Chen et al. 2016, "Training Deep Nets with Sublinear Memory Cost"
/// (arXiv 1604.06174), section 4. A segment of a model keeps its inputs alone. When backward comes to the segment, its ops
/// run a second time, are recorded, and backward goes through them:
///
///   for (const Block& block : blocks) x = recompute([&block](const Tensor& y) { return block(y); }, x);
///
/// With N blocks of A bytes of activations each, whose inputs have X bytes, a tape keeps N X + A bytes instead of N A. It
/// costs one forward pass more. Segments of sqrt(N) blocks each keep sqrt(N) (X + A) bytes.
///
/// The second time, all is as it was the first time, so that losses and gradients have the same bits:
/// - the policies that were in force are in force again, even if their regions are over: autocast with its copies of
///   parameters (cast_policy.h), products in FP8 with their random words and scales (product_policy.h);
/// - an effect that a forward pass has beside its result happens once: remembered(), below;
/// - gradients are added in the same order, those of parameters and other tensors of the block to these tensors themselves.
///
/// An observer sees each op forwards once, when it runs first. What the first run makes counts as workspace, as it does
/// without a tape; what the second run makes counts as activations.
namespace tinymp {

/// Returns block(x). Its ops leave nothing on the current tape but x and the block. Without a tape, and where ops are going
/// to run again anyway, it only calls the block. The block runs again in backward: what it refers to must live until then.
/// Throws Error in backward when the block takes another course the second time.
Tensor recompute(std::function<Tensor(const Tensor&)> block, const Tensor& x);
/// The same for a block of several inputs or results; an input may be a result, too.
std::vector<Tensor> recompute(std::function<std::vector<Tensor>(const std::vector<Tensor>&)> block,
                              std::vector<Tensor> inputs);

namespace detail {

/// The first or the second run of a segment. The innermost one is current.
class SegmentRun {
 public:
  /// What effects returned in the first run, in their order.
  using Journal = std::vector<std::any>;

  SegmentRun(Journal& journal, bool is_first);
  ~SegmentRun();
  SegmentRun(const SegmentRun&) = delete;
  SegmentRun& operator=(const SegmentRun&) = delete;

  /// In the first run calls the effect and keeps what it returns; in the second returns that.
  const std::any& once(const std::function<std::any()>& effect);
  void expect_end() const;  ///< throws Error when the second run had fewer effects
  [[noreturn]] static void throw_other_course();

 private:
  Journal& journal_;
  std::size_t next_ = 0;
  bool is_first_;
  SegmentRun* outer_;
};

inline constinit thread_local SegmentRun* segment_run = nullptr;

}  // namespace detail

/// For what a forward pass does beside its result: it draws a mask, counts a step, registers a move of running averages.
/// Calls `effect` and returns what it returns; when a segment runs a second time, returns a copy of the first result
/// instead. An effect computes nothing that needs a gradient.
template <class Effect>
auto remembered(Effect effect) -> std::invoke_result_t<Effect> {
  using Result = std::invoke_result_t<Effect>;
  detail::SegmentRun* const run = detail::segment_run;
  if (run == nullptr) return effect();
  if constexpr (std::is_void_v<Result>) {
    const std::any& nothing = run->once([&] {
      effect();
      return std::any();
    });
    if (nothing.has_value()) detail::SegmentRun::throw_other_course();
  } else {
    const auto* const result = std::any_cast<Result>(&run->once([&]() -> std::any { return effect(); }));
    if (result == nullptr) detail::SegmentRun::throw_other_course();
    return *result;
  }
}

}  // namespace tinymp
