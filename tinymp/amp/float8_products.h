#pragma once

#include <tinymp/amp/tensor_scales.h>
#include <tinymp/autograd/product_policy.h>
#include <tinymp/nn/module.h>
#include <tinymp/numeric/recipe.h>
#include <cstdint>
#include <string>
#include <vector>

/// Products in FP8, as Recipe::eight_bits says. Inside a region matmul, linear and conv2d round their operands to FP8
/// when a weight of the model is one of them:
///
///   y = x . w                  activations and weights, forward
///   dx = dy . w^T              errors and weights, backward
///   dw = x^T . dy              activations and errors, backward
///
/// Sums are FP32, and the results have the format of x. Where the recipe rounds gradients, the FP32 sums of dw are rounded to
/// FP8, and then go as they are into the format of w. All else runs as without a region: biases, norms, losses. Where the
/// recipe has scales for tensors, a tensor is multiplied by its scale before it is rounded, and the product is divided by
/// both (tensor_scales.h).
///
///   Float8Products products(model, recipes::fp8_e5m2, seed);
///   for each step:
///     products.begin_step();
///     {
///       const Float8Products::Region region(products);
///       Tape tape;
///       tape.backward(scaler.scale(cross_entropy(model(images), labels)));
///     }
///     products.end_step();
///     ...
///
/// A step may have several regions, one for each micro-batch: delayed scales stay until it ends. Backward comes before
/// end_step(), for its products divide by the scales of their step. Products outside of a step, and of forward passes
/// without a tape, are no training, and move nothing of it. They take delayed scales as they are, and measure no amax. Their
/// random words are others than those of training: they follow from the seed, the number of steps and the place of the
/// product among those since the outermost region began. So a result is the same after a resumption, and between steps
/// that a graph takes.
///
/// A product that recompute() runs a second time has the random words and the scales of the first time.
namespace tinymp {

class Float8Products {
 public:
  /// Without 8 bits in the recipe it covers no weight, and costs nothing. The model lies on its device already. The random
  /// words of stochastic rounding follow from the seed, the step, the tensor, its use and the place of a value. Throws
  /// Error where expect_eight_bits() does, and when an exempt layer is none of the model's.
  Float8Products(const nn::Module& model, const Recipe& recipe, std::uint64_t seed = 0);

  /// Counts a step, on the device: its random words are new. With delayed scales, throws Error when the step before it has
  /// not ended.
  void begin_step() const;
  /// Ends a step, on the device: the delayed scales of the tensors that it used move.
  void end_step() const;
  /// Goes on after `steps` steps: a run that was interrupted, or a step that is taken again. A step that did not end is
  /// forgotten.
  void set_step(std::int64_t steps) const;

  /// The delayed scales after a step, copied; empty for other recipes. Waits for the device.
  DelayedScaleState state(Device where = Device::cpu) const;
  /// Goes on from there. Throws Error for the state of another model or recipe.
  void restore(const DelayedScaleState& state) const;

  /// The weights whose products are in FP8. 0 where a recipe exempts all layers of a model.
  std::size_t covered() const;

  /// A tensor of the products, and its scale.
  struct Scale {
    std::string layer{};        ///< "layer 1"
    std::string weight{};       ///< "layer 1 weight"; a layer may have several
    std::string role{};         ///< "activations", "weights" or "errors"
    DType format = DType::f32;  ///< e4m3 or e5m2
    /// With delayed scaling: the scale of the next step, and the amax of the newest step that used the tensor. With current
    /// scaling: those of the last use in the newest step. 1 and 0 before there is one.
    float scale = 1, amax = 0;
  };
  /// Layer by layer, in the order of the model; empty without scales. Waits for the device.
  std::vector<Scale> scales() const;

  /// Covers one thread, to the end of its block. Regions nest, and the innermost one counts. A weight is rounded once in
  /// a region for training, and once for what is none, however often the model uses it.
  class Region {
   public:
    explicit Region(const Float8Products& products);
    ~Region();
    Region(const Region&) = delete;
    Region& operator=(const Region&) = delete;
    static void* operator new(std::size_t) = delete;

   private:
    std::shared_ptr<ProductPolicy> outer_;
  };

 private:
  class Policy;
  std::shared_ptr<Policy> policy_;  ///< null without 8 bits
};

}  // namespace tinymp
