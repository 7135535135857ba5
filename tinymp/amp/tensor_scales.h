#pragma once

#include <tinymp/numeric/eight_bits.h>
#include <tinymp/tensor/tensor.h>
#include <cstddef>
#include <vector>

/// The scales of the tensors that products in FP8 read, on their device. Each weight has three: of its activations, of
/// itself, and of its errors.
///
/// Current scaling reads a tensor for its amax before it is scaled, and each use of a weight has a scale of its own.
/// Delayed scaling, that of Transformer Engine, has a scale at the beginning of a step, for all uses in the step. The
/// largest amax of these uses enters a history when the step ends, and the next scale follows (tensor_scaling.h). A
/// tensor that no product of the step read keeps its history and its scale.
namespace tinymp {

/// What delayed scales are between two steps, for T tensors. Empty for other scales.
struct DelayedScaleState {
  Tensor history{};  ///< (T, length) f32
  Tensor next{};     ///< (T) f64: the place of the next amax
  Tensor scale{};    ///< (T) f32
};

/// Throws Error for a state that no run can have.
void expect_possible(const DelayedScaleState& state);

class TensorScales {
 public:
  enum Role : std::size_t { activations, weights, errors, roles };

  TensorScales(const EightBits& how, std::size_t weights, Device device);

  /// Between these two, tensors of a training step have their amax measured. In a MemoryRegion the state of delayed scales
  /// counts as MemoryKind::optimizer from here on. Throws Error when a step with delayed scales
  /// begins before the one before it ended.
  void begin_step();
  void end_step();
  /// Forgets what was measured of a step that did not end.
  void drop_step();

  /// The scale for x, the `use`-th tensor of a role that the step reads with a weight; () f32, empty for 1. The scale of a
  /// step stays until the step ends, or the next one begins. `counts` is false for a tensor that is no part of training.
  Tensor scale_for(const Tensor& x, std::size_t weight, Role role, std::size_t use, bool counts);

  bool in_step() const { return in_step_; }
  bool any() const { return how_.scaling != TensorScaling::none; }
  /// The newest scale of a tensor, and the amax that it was last measured with in a step: 1 and 0 before the first step.
  /// Waits for the device.
  struct Newest {
    float scale = 1, amax = 0;
  };
  Newest newest(std::size_t weight, Role role) const;

  /// Copies. Waits for the device.
  DelayedScaleState state(Device where) const;
  /// Throws Error for a state of other shapes, or one that no run can have.
  void restore(const DelayedScaleState& state);

 private:
  /// One use of a tensor with a current scale.
  struct Use {
    Tensor amax{}, scale{};  ///< () f32
  };

  std::size_t place(std::size_t weight, Role role) const { return role * count_ + weight; }
  DType format_of(Role role) const { return role == errors ? how_.backward : how_.forward; }
  void move(std::size_t from, std::size_t to, DType format) const;

  EightBits how_;
  std::size_t count_;  ///< weights
  bool in_step_ = false;
  // Rows of `state_`: all activations, all weights, all errors.
  DelayedScaleState state_{};
  Tensor amax_{};  ///< (T) f32, of this step; -1: not used
  std::vector<std::vector<Use>>
      uses_{};  ///< of T tensors: of current scales; kept, so that a recorded graph has them
  std::vector<std::size_t> last_{};  ///< of T tensors: the number of uses in the newest step
};

}  // namespace tinymp
