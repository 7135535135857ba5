#pragma once

#include <tinymp/autograd/product_policy.h>
#include <tinymp/nn/module.h>
#include <tinymp/numeric/recipe.h>
#include <cstdint>

/// Products in FP8, as Recipe::eight_bits says. Inside a region matmul, linear and conv2d round their operands to FP8
/// when a weight of the model is one of them:
///
///   y = x . w                  activations and weights, forward
///   dx = dy . w^T              errors and weights, backward
///   dw = x^T . dy              activations and errors, backward
///
/// Sums are FP32, and the results have the format of x. All else runs as without a region: biases, norms, losses.
///
///   Float8Products products(model, recipes::fp8_e5m2, seed);
///   for each step:
///     products.begin_step();
///     const Float8Products::Region region(products);
///     Tape tape;
///     tape.backward(scaler.scale(cross_entropy(model(images), labels)));
///     ...
namespace tinymp {

class Float8Products {
 public:
  /// Without 8 bits in the recipe it covers no weight, and costs nothing. The model lies on its device already. The random
  /// words of stochastic rounding follow from the seed, the step, the tensor and the place of a value in it. Throws
  /// Error where expect_eight_bits() does, and when an exempt layer is none of the model's.
  Float8Products(const nn::Module& model, const Recipe& recipe, std::uint64_t seed = 0);

  /// Counts a step, on the device: its random words are new.
  void begin_step() const;
  /// Goes on after `steps` steps: a run that was interrupted, or a step that is taken again.
  void set_step(std::int64_t steps) const;

  /// Covers one thread, to the end of its block. Regions nest, and the innermost one counts. A weight is rounded once in
  /// a region, however often the model uses it.
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
