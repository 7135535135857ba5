#pragma once

#include <tinymp/autograd/tape.h>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Finds the op that made the first infinity or NaN. A tape with a NonfiniteTracer shows it every result of
/// an op and every gradient. The tracer keeps the first that is not finite:
///
///   NonfiniteTracer tracer;
///   Tape tape(&tracer);
///   tape.backward(loss_of(...));
///   if (tracer.first()) ... tracer.first()->op, ->where, ->inputs
///
/// The tracer reads every value and waits for the device, so use it for the step in question only.
namespace tinymp {

/// A summary of the values of a tensor.
struct Contents {
  double low = 0, high = 0;  ///< the range of the finite values; 0 when there are none
  std::int64_t bad_at = -1;  ///< the index of the first infinity, or else of the first NaN; -1: all finite
  double bad = 0;            ///< the value at bad_at
  bool has_nan = false;
  bool finite() const { return bad_at < 0; }
};
Contents contents_of(const Tensor& x);  ///< waits for the device
bool all_finite(const Tensor& x);       ///< contents_of(x).finite(), but faster; waits

/// A tensor that is not finite, and the inputs that it was computed from.
struct BadTensor {
  enum class Origin : std::uint8_t {
    input,     ///< no op computed it: it was infinite or NaN when it went into one
    forward,   ///< the result of an op
    backward,  ///< a gradient
  };
  struct Input {
    std::string name;  ///< "layer 2 weight"; empty when it has no name
    DType dtype = DType::f32;
    Contents contents;
  };
  Origin origin = Origin::forward;
  /// "linear"; "add" when the sum of two gradients is bad, "cast" when
  /// rounding to the kept format made it so.
  std::string op;
  std::string where;  ///< "layer 2", "after layer 2"; for the gradient of a named tensor, "layer 2 weight"
  DType dtype = DType::f32;
  Shape shape;
  Contents contents;
  std::vector<Input> inputs;  ///< the inputs of the op; for a gradient, the one that it was computed from
  double scale = 1;           ///< of a "quantize": the input was multiplied with it
};

/// Traces one step. An infinity or NaN that rounding to FP8 makes of a product's operand is a "quantize" (of E4M3, which has
/// no infinity, a NaN). `where` then tells the operand: "layer 2 errors".
class NonfiniteTracer final : public Observer {
 public:
  /// Returns the name of a tensor, or "". The last word names the tensor within its layer: "layer 2 weight".
  using Name = std::function<std::string(const Tensor&)>;
  /// The infinity or NaN that an op made.
  struct Made {
    std::size_t op = 0;  ///< the number of the op in the step
    bool infinity = false, nan = false;
    bool operator==(const Made&) const = default;
  };
  /// first() leaves out what is in `known`: an infinity, say, from an op that is known to make one. A NaN
  /// from the same op is new. When nothing is new and the last result, the loss, is still not finite, first()
  /// is the first known one.
  explicit NonfiniteTracer(Name name = {}, std::vector<Made> known = {})
      : name_(std::move(name)), known_(std::move(known)) {}

  const std::optional<BadTensor>& first() const { return first_; }
  /// The name of the first tensor whose gradient was not finite; "" when all gradients are finite.
  const std::string& first_bad_gradient() const { return first_bad_gradient_; }
  /// All infinities and NaN that ops made out of finite inputs, and NaN out of
  /// infinities, known ones included.
  const std::vector<Made>& origins() const { return origins_; }

  void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override;
  void backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output,
                const Tensor& dy, const std::vector<Tensor>& gradients) override;
  void narrowed(const Narrowed& tensor) override;
  void begin_again(const std::vector<Tensor>& inputs) override;
  void again(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override;

 private:
  std::string name_of(const Tensor& x) const;
  const std::string& follow(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output);
  Made made_by(const std::vector<BadTensor::Input>& inputs, const Contents& output) const;
  bool is_known(const Made& made) const;

  Name name_;
  std::vector<Made> known_, origins_;
  std::size_t ops_ = 0;
  bool last_is_finite_ = true;  ///< true when the last result was finite
  std::string layer_;           ///< the last layer whose parameters an op used
  bool has_gone_back_ = false;  ///< the next op that runs forwards is the first of another micro-batch
  std::map<const void*, std::string> places_;  ///< the place of each result
  std::map<const void*, std::string> copies_;  ///< the name of each cast copy: that of its original
  std::optional<BadTensor> first_, first_known_;
  std::string first_bad_gradient_;
};

}  // namespace tinymp
