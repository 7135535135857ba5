#pragma once

#include <tinymp/autograd/tape.h>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// Which op made the first infinity or NaN. A tape that is given a NonfiniteTracer shows it every result of
/// an op and every gradient as they come into being, and the tracer keeps the first that is not finite:
///
///   NonfiniteTracer tracer;
///   Tape tape(&tracer);
///   tape.backward(loss_of(...));
///   if (tracer.first()) ... tracer.first()->op, ->where, ->inputs
///
/// Looking reads every value and waits for the device: for one step in question, not for all of them.
namespace tinymp {

/// What a tensor holds.
struct Contents {
  double low = 0, high = 0;  ///< of its finite values; 0 where there are none
  std::int64_t bad_at = -1;  ///< the place of the first infinity, or where there is none the first NaN
  double bad = 0;            ///< what lies there
  bool has_nan = false;
  bool finite() const { return bad_at < 0; }
};
Contents contents_of(const Tensor& x);  ///< waits for the device
bool all_finite(const Tensor& x);       ///< the same question, asked faster; waits

/// A tensor that is not finite, and what it was made of.
struct BadTensor {
  enum class Origin : std::uint8_t {
    input,     ///< no op computed it: it was infinite or NaN when it went into one
    forward,   ///< the result of an op
    backward,  ///< a gradient
  };
  struct Input {
    std::string name;  ///< "layer 2 weight"; empty where it has none
    DType dtype = DType::f32;
    Contents contents;
  };
  Origin origin = Origin::forward;
  std::string
      op;  ///< "linear"; where gradients are added up, or rounded to where they are kept: "add", "cast"
  std::string where;  ///< "layer 2", "after layer 2"; of a gradient with a name, "layer 2 weight"
  DType dtype = DType::f32;
  Shape shape;
  Contents contents;
  std::vector<Input> inputs;  ///< of the op; of a gradient: the gradient that it was made of
};

/// One step under observation.
class NonfiniteTracer final : public Observer {
 public:
  /// What a tensor is called, "" for none. The last word says which tensor of a layer: "layer 2 weight".
  using Name = std::function<std::string(const Tensor&)>;
  /// What an op made that was not there before.
  struct Made {
    std::size_t op = 0;  ///< its number in the step
    bool infinity = false, nan = false;
    bool operator==(const Made&) const = default;
  };
  /// `known` is no news: an infinity of an op that is known to make one. A NaN of the same op is. Where there
  /// is no news and the last result, the loss, is not finite all the same, what is known is to blame.
  explicit NonfiniteTracer(Name name = {}, std::vector<Made> known = {})
      : name_(std::move(name)), known_(std::move(known)) {}

  const std::optional<BadTensor>& first() const { return first_; }
  /// The named tensor whose gradient was the first not to be finite; "" where all of them are.
  const std::string& first_bad_gradient() const { return first_bad_gradient_; }
  /// All that was made, out of finite inputs or a NaN out of infinities, news or not.
  const std::vector<Made>& origins() const { return origins_; }

  void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override;
  void backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output,
                const Tensor& dy, const std::vector<Tensor>& gradients) override;

 private:
  std::string name_of(const Tensor& x) const;
  const std::string& follow(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output);
  Made made_by(const std::vector<BadTensor::Input>& inputs, const Contents& output) const;
  bool is_known(const Made& made) const;

  Name name_;
  std::vector<Made> known_, origins_;
  std::size_t ops_ = 0;
  bool last_is_finite_ = true;                 ///< of the results
  std::string layer_;                          ///< the last whose parameters an op used
  std::map<const void*, std::string> places_;  ///< of each result
  std::map<const void*, std::string> copies_;  ///< what a cast made of a named tensor is called as that
  std::optional<BadTensor> first_, first_known_;
  std::string first_bad_gradient_;
};

}  // namespace tinymp
