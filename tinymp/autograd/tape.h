#pragma once

#include <tinymp/base/memory_account.h>
#include <tinymp/numeric/roundings.h>
#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

/// Reverse-mode automatic differentiation. While a Tape is alive, every op records how to run backwards.
namespace tinymp {

/// Tells which inputs of an op need a gradient. The images of the first layer do not, which saves a third of
/// an MLP's step.
class Needs {
 public:
  explicit Needs(const std::vector<Tensor>& inputs) : inputs_(inputs) {}
  bool operator()(std::size_t i) const { return inputs_[i].requires_grad(); }

 private:
  const std::vector<Tensor>& inputs_;
};

/// Computes dloss/dinput from dloss/doutput: one tensor for each input, in order. The tensor may be empty
/// when needs(i) is false.
using Backward = std::function<std::vector<Tensor>(const Tensor& dy, const Needs& needs)>;

/// The name of an op, and the format of its running sum if it has one.
struct Op {
  Op(const char* name, std::optional<DType> sums = {}) : name(name), sums(sums) {}
  Op(std::string name, std::optional<DType> sums = {}) : name(std::move(name)), sums(sums) {}

  std::string name;
  std::optional<DType> sums;
};

/// A tensor that became FP8 on its way into a product.
struct Narrowed {
  enum class Kind : std::uint8_t { activations, weights, errors, gradients };  ///< the last: of the weight
  Kind kind;
  const Tensor& weight;          ///< that of the product
  const Tensor &before, &after;  ///< after = round(scale before)
  Rounding rounding;
  const Tensor& scale;  ///< () f32, on the device; empty: 1

  bool is_forward() const { return kind == Kind::activations || kind == Kind::weights; }
};
/// "activations", "weights", "errors", "weight gradients"
const char* name_of(Narrowed::Kind kind);

/// Receives every op that runs under its tape. nonfinite_tracer.h looks for infinities,
/// amp/explain.h lists the formats.
class Observer {
 public:
  virtual void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) = 0;
  /// Called after `gradients` were added to the gradients of the inputs.
  virtual void backward(const std::string& /*op*/, const std::vector<Tensor>& /*inputs*/,
                        const Tensor& /*output*/, const Tensor& /*dy*/,
                        const std::vector<Tensor>& /*gradients*/) {}
  /// Called before the product runs, forwards and backwards.
  virtual void narrowed(const Narrowed& /*tensor*/) {}
  /// Called before ops that forward() has seen run a second time, from `inputs`, for their backward pass (recompute.h).
  virtual void begin_again(const std::vector<Tensor>& /*inputs*/) {}
  /// Called instead of forward() when an op runs a second time. backward() gets these tensors.
  virtual void again(const Op& /*op*/, const std::vector<Tensor>& /*inputs*/, const Tensor& /*output*/) {}

 protected:
  ~Observer() = default;
};

class Tape {
 public:
  /// Becomes the current tape of this thread. Tapes nest. backward() begins with `seed` as dloss/dloss, by default 1: with
  /// S, what comes out is the gradient of loss x S.
  explicit Tape(Observer* observer = nullptr, Tensor seed = {});
  ~Tape();  ///< the outer tape is current again
  Tape(const Tape&) = delete;
  /// Tapes live on the stack, so that inner ones end before outer ones.
  static void* operator new(std::size_t) = delete;
  Tape& operator=(const Tape&) = delete;

  /// Sets dloss/dloss to the seed and runs the recorded ops backwards, newest first, adding up the gradient of every
  /// tensor that requires one. Activations are freed on the way, so a tape runs once. Throws Error when loss
  /// is not a scalar, was not recorded on this tape, or does not have the format and device of the seed, or the tape has run
  /// before.
  void backward(const Tensor& loss);
  /// Begins with `gradient` as that of `output`, which need not be a scalar: the rest of the way from the loss lies on another
  /// tape, that of another process perhaps. Throws Error where the other one does.
  void backward(const Tensor& output, const Tensor& gradient);

  /// Ops record on the outer tape again. This one waits for its backward(), in which it is the current tape once more. So the
  /// tapes of several micro-batches wait side by side; they need not end in the order of the stack.
  void stop();

  std::size_t size() const { return nodes_.size(); }  ///< ops recorded so far
  /// Prints the recorded ops, a line each: name, inputs, output, with shapes and formats.
  friend std::ostream& operator<<(std::ostream& out, const Tape& tape);

  /// The tape that ops record on now, or nullptr when nothing is recorded.
  static Tape* current();
  /// The seed of the current tape; empty without a tape, or if its backward begins with 1.
  static Tensor current_seed();
  /// Unique to this tape and to what is recomputed for it, and not 0.
  std::uint64_t number() const { return number_; }

  /// The current tape keeps x, an input of the newest op, as an outline. The values live on where a backward holds x
  /// itself, or the caller does.
  static void let_go(const Tensor& x);
  /// The observer of the current tape, forwards or backwards; null: none, or ops run forwards a second time.
  static Observer* observer();

 private:
  class Segment;  // recompute.cpp
  friend std::vector<Tensor> recompute(std::function<std::vector<Tensor>(const std::vector<Tensor>&)> block,
                                       std::vector<Tensor> inputs);
  friend Tensor record(Op op, std::vector<Tensor> inputs, Tensor output, Backward backward);
  friend void show(const char* op, const Tensor& input, const Tensor& result, std::optional<DType> sums);
  struct Node {
    std::string op;
    std::vector<Tensor> inputs;
    Tensor output;
    Backward backward;
  };
  struct Turn;
  void rest();
  void expect_ready(const Tensor& from) const;  ///< to run backward from there
  void walk();                                  ///< runs the ops backwards, newest first
  /// Shows an op that ran forwards to the observer.
  static void tell(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output);
  static bool has_observer();  ///< of ops that run forwards
  bool keeps(const Op& op, const std::vector<Tensor>& inputs) const;
  std::vector<Node> nodes_;
  std::uint64_t number_;
  Tape* outer_;
  Observer* observer_;
  Tensor seed_;
  bool has_run_ = false;
  bool is_stopped_ = false;
  bool is_paused_ = false;  ///< ops run now, and will run again to be recorded
  bool repeats_ = false;    ///< its ops run a second time
  /// What ops make while it records is kept. Empty while it is stopped.
  std::optional<MemoryRegion> memory_{std::in_place, MemoryKind::activations};
};

/// Every differentiable op ends with this call:
///   return record("relu", {x}, y, [y](const Tensor& dy, const Needs&) {...});
/// An op with a running sum names its format:
///   return record({"sum", DType::f32}, ...
Tensor record(Op op, std::vector<Tensor> inputs, Tensor output, Backward backward);

/// Shows an intermediate result (a batch variance, say) to the Observer. It may be infinite while the output
/// of the op is finite. Free without an Observer.
void show(const char* op, const Tensor& input, const Tensor& result, std::optional<DType> sums = {});

}  // namespace tinymp
