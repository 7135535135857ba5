#pragma once

#include <kernels/step.h>
#include <tinymp/tensor/device_value.h>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

/// The gradients of one optimizer's parameters, and the order of the calls in a training step:
///   backward -> unscale (checks; factor = 1/S) -> clip -> step -> update the scale -> zero_grad
/// Unscaling and clipping change no gradient. They change one factor, and the optimizer multiplies each
/// gradient by this factor in FP32. No gradient is copied. No call waits for the device unless its comment
/// says so: the counts of a step stay on the device until a program reads them.
///
/// Micro-batches: backward may run several times before unscale. The gradients add up in the arena: one block
/// of memory for all gradients of an optimizer. Optimizer::gradients() is told how many micro-batches they are the sum of;
/// unscale() makes their mean of it: factor = 1/(S micro-batches). No gradient is divided before it is added, since small
/// ones would underflow. The arena has the format recipe.gradient. FP16 recipes set it to f16: a sum of K then overflows
/// log2 K powers of two earlier, and loses small addends. gradient = f32 does neither (two more bytes a parameter).
namespace tinymp {

class LossScaler;
class Optimizer;
class Tensor;
struct View;

/// How far a step has come.
enum class Stage : std::uint8_t {
  scaled,    ///< backward leaves the gradients multiplied by S
  unscaled,  ///< unscale() has checked the gradients and set the factor
  stepped,   ///< step() has moved the weights or skipped the step
  dropped,   ///< zero_grad() came before step() and gave the step up
  over,      ///< zero_grad() came after step()
};

/// A handle on the gradients of an optimizer. Optimizer::gradients() makes it; it is valid until zero_grad().
class Gradients {
 public:
  View view() const;             ///< the gradients as backward left them: multiplied by S
  const Tensor& tensor() const;  ///< the same values as a tensor
  /// A value of view() times factor() is the true gradient, or after clip_norm() the clipped gradient.
  /// Waits. Throws Error before unscale() and after zero_grad().
  float factor() const;
  bool unscaled() const;  ///< true between unscale() and zero_grad()

 private:
  friend class LossScaler;
  friend class Optimizer;
  friend class UnscaleResult;
  friend Tensor clip_norm(Gradients& gradients, float max_norm);

  /// One step of one optimizer. zero_grad() begins the next step. A Gradients handle reads the stage of its Step to
  /// find out whether the step is over.
  struct Step;
  explicit Gradients(std::shared_ptr<Step> step) : step_(std::move(step)) {}
  void expect_current(const char* caller) const;

  std::shared_ptr<Step> step_;
};

/// What unscale() found. Only LossScaler::unscale makes one, Optimizer::step reads it, and LossScaler::update
/// consumes it. So a step without a check does not compile.
class [[nodiscard]] UnscaleResult {
 public:
  UnscaleResult(UnscaleResult&&) = default;
  UnscaleResult& operator=(UnscaleResult&&) = default;

  bool finite() const { return counts().nonfinite == 0; }  ///< waits
  bool skips() const {
    return skip_nonfinite_ && !finite();
  }  ///< true when step() will change nothing; waits
  kernels::GradientCounts counts() const { return found_.read(); }  ///< of all gradients; waits
  /// The same counts on the device, to be read later.
  const DeviceValue<kernels::GradientCounts>& found() const { return found_; }
  /// For processes that share a step, where another one may have found more.
  void set_nonfinite(std::int64_t count) const {
    kernels::GradientCounts found = found_.read();
    found.nonfinite = count;
    found_.write(found);
  }
  /// The norm of the gradients before clipping, on the device. Empty unless unscale() was called with a max_norm.
  const std::optional<DeviceValue<float>>& norm() const { return norm_; }

  /// For gradients of which this process has a part: the counts of all parts decide about the step, and the sum of the squares of
  /// all unscaled gradients clips them, as clip_norm() would. Waits. Throws Error unless it is between unscale() and step().
  void join(const kernels::GradientCounts& of_all, double sum_of_squares, float max_norm);

 private:
  friend class LossScaler;
  friend class Optimizer;
  UnscaleResult(std::shared_ptr<Gradients::Step> step, Device device, bool skip_nonfinite)
      : found_(device), skip_nonfinite_(skip_nonfinite), step_(std::move(step)) {}

  DeviceValue<kernels::GradientCounts> found_;
  std::optional<DeviceValue<float>> norm_;
  bool skip_nonfinite_;
  std::shared_ptr<Gradients::Step> step_;  ///< empty after a move, and after update()
};

/// Limits the L2 norm of all (unscaled) gradients to max_norm. A larger norm makes the factor smaller:
/// factor *= max_norm / (norm + 1e-6), as in PyTorch's clip_grad_norm_. The squares are summed in f64.
/// PyTorch sums them in FP32, where a norm above 1.8e19 becomes infinite and turns all gradients to 0.
/// Returns the norm before clipping, an f32 scalar whose item() waits. A norm that is not finite changes
/// nothing: UnscaleResult reports the gradients that are not finite, and the policy decides whether step()
/// skips. Throws Error in three cases: the gradients are still multiplied by S (Micikevicius et al. 2018: unscale
/// first, then clip); the gradients are from before zero_grad(); max_norm is not above 0.
Tensor clip_norm(Gradients& gradients, float max_norm);

}  // namespace tinymp
