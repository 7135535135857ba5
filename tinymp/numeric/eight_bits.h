#pragma once

#include <tinymp/numeric/dtype.h>
#include <tinymp/numeric/tensor_scaling.h>
#include <array>
#include <concepts>
#include <string>
#include <string_view>
#include <vector>

/// Matrix products whose operands are FP8.
namespace tinymp {

/// A list of layers, "first,last,block 1*": names as nn::Parameter has them, where * stands for any text. The words "first"
/// and "last", written out, are also the layers of the first and of the last weight of a model: "*t" names neither. A fixed
/// text, so that a recipe stays a plain value.
class LayerNames {
 public:
  static constexpr std::size_t longest = 95;

  constexpr LayerNames() = default;
  template <std::size_t n>
  constexpr LayerNames(const char (&text)[n]) {
    static_assert(n <= longest + 1);
    for (std::size_t i = 0; i < n; ++i) text_[i] = text[i];
  }
  /// Throws UsageError for a text that is longer than `longest`.
  static LayerNames from(std::string_view text);

  constexpr std::string_view text() const { return text_.data(); }
  constexpr bool empty() const { return text_[0] == '\0'; }
  /// True when the list names this layer: "layer 1" is in "layer 2,layer 1" and in "layer*".
  bool has(std::string_view layer) const;
  bool operator==(const LayerNames&) const = default;

 private:
  std::array<char, longest + 1> text_{};
};

/// Where the scale of a tensor comes from. The rules are in tensor_scaling.h.
enum class TensorScaling : std::uint8_t {
  none,  ///< every scale is 1
  current,  ///< from the tensor itself, as Transformer Engine computes it; a NaN in the tensor counts for nothing
  torchao,  ///< from the tensor itself, as torchao computes it; a NaN in the tensor makes the scale NaN
  delayed,  ///< from the tensor of earlier steps
};

/// "none", "current", "torchao", "delayed".
std::string_view name_of(TensorScaling scaling);
/// "max", "most_recent".
std::string_view name_of(AmaxAlgorithm algorithm);
/// Sets `value` to what has this name. Returns false for an unknown name.
bool set_by_name(TensorScaling& value, std::string_view name);
bool set_by_name(AmaxAlgorithm& value, std::string_view name);
std::vector<std::string> tensor_scaling_names();
std::vector<std::string> amax_algorithm_names();

/// What set_by_name() takes.
template <class T>
concept ScalingChoice = std::same_as<T, TensorScaling> || std::same_as<T, AmaxAlgorithm>;

/// What becomes FP8 on its way into a product of forward, of backward, and of the gradient of a weight. What comes out
/// has the format Recipe::compute, as everything else. FP8 training of Mellempudi et al. 2019 (arXiv 1905.12334) and of
/// Micikevicius et al. 2022 (arXiv 2209.05433). f32 stands for: as it is.
struct EightBits {
  DType forward = DType::f32;  ///< weights and activations: e4m3 or e5m2
  DType backward =
      DType::f32;  ///< errors, the gradients of activations: the same, or f32 together with `forward`
  DType gradient =
      DType::f32;  ///< the FP32 sums of weight gradients are rounded to it, and kept in Recipe::gradient
  /// Numbers beyond the largest become the largest. Else infinity (E4M3: NaN), which a loss scaler sees in the gradients.
  bool saturate = false;
  LayerNames exempt{};  ///< the products of these layers stay as they are
  /// The scales of weights, activations and errors, whatever their formats. Gradients of weights have none.
  TensorScaling scaling = TensorScaling::none;
  // These three belong to delayed scaling: the fields of DelayedScaling.
  int margin = 0;                           ///< -100 .. largest_margin
  int history = 1024;                       ///< 1 .. longest_history
  AmaxAlgorithm amax = AmaxAlgorithm::max;  ///< of the history
  static constexpr int longest_history = 1 << 20;
  /// 448 / 2^30 / the largest float is still above 0 in FP32. With a larger margin a delayed scale could become 0.
  static constexpr int largest_margin = 30;

  constexpr bool any() const { return forward != DType::f32; }
  constexpr DelayedScaling delayed(DType format) const { return {largest_of(format), margin, history, amax}; }
  /// The largest number of an FP8 format.
  static constexpr float largest_of(DType format) { return format == DType::e5m2 ? 57344.0f : 448.0f; }
  bool operator==(const EightBits&) const = default;
};

}  // namespace tinymp
