#pragma once

#include <tinymp/autograd/tape.h>
#include <tinymp/train/histogram.h>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// What products in FP8 lose of their operands (amp/float8_products.h): how many values become 0, and how many lie beyond
/// the largest number of the format.
namespace tinymp::train {

/// A tensor on its way into a product.
struct NarrowedTensor {
  std::string layer{};  ///< "layer 2"
  Narrowed::Kind kind = Narrowed::Kind::activations;
  Shape shape{};
  double largest = 0;  ///< the largest finite magnitude before, without the scale
  double scale = 1;    ///< what the values were multiplied with
  NarrowedSizes sizes{};
};

/// Observes one step, on any device. It copies each tensor to the CPU, so use it every so many steps only. It passes all
/// calls on to `also`, another observer.
class EightBitMeter final : public Observer {
 public:
  /// Returns the name of a tensor, or "": "layer 2 weight".
  using Name = std::function<std::string(const Tensor&)>;
  /// `delayed` is true when scales are delayed.
  explicit EightBitMeter(Name name, Observer* also = nullptr, bool delayed = false)
      : name_(std::move(name)), also_(also), delayed_(delayed) {}

  /// A sum for each kind: activations, weights, errors, gradients of weights; without the kinds that did not become FP8.
  std::vector<NarrowedSizes> sizes() const;
  /// The tensor that lost the largest share of its values: all of them to 0, or a tenth and more to the end of the
  /// format. Empty when there is none. A delayed scale of 1 is that of a tensor which no step has measured yet: its loss is
  /// over one step later, and does not count.
  const std::optional<NarrowedTensor>& worst() const { return worst_; }

  void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override;
  void backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output,
                const Tensor& dy, const std::vector<Tensor>& gradients) override;
  void narrowed(const Narrowed& tensor) override;
  void begin_again(const std::vector<Tensor>& inputs) override;
  void again(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override;

 private:
  Name name_;
  Observer* also_;
  bool delayed_;
  std::vector<std::optional<NarrowedSizes>> sizes_ =
      std::vector<std::optional<NarrowedSizes>>(4);  ///< of each kind
  std::optional<NarrowedTensor> worst_;
};

}  // namespace tinymp::train
