#pragma once

#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

/// Reverse-mode automatic differentiation: while a Tape is alive, every op writes down how to run itself
/// backwards.
namespace tinymp {

/// Which inputs of an op want a gradient. The images of the first layer do not: that saves a third of an
/// MLP's step.
class Needs {
 public:
  explicit Needs(const std::vector<Tensor>& inputs) : inputs_(inputs) {}
  bool operator()(std::size_t i) const { return inputs_[i].requires_grad(); }

 private:
  const std::vector<Tensor>& inputs_;
};

/// From dloss/doutput to dloss/dinput, one tensor for each input in order; an empty tensor where needs(i) is
/// false.
using Backward = std::function<std::vector<Tensor>(const Tensor& dy, const Needs& needs)>;

/// What an op is called, and in which format it keeps a running sum, where it has one.
struct Op {
  Op(const char* name, std::optional<DType> sums = {}) : name(name), sums(sums) {}
  Op(std::string name, std::optional<DType> sums = {}) : name(std::move(name)), sums(sums) {}

  std::string name;
  std::optional<DType> sums;
};

/// Is shown all that is computed under a tape, as it comes into being: nonfinite_tracer.h looks for
/// infinities, amp/explain.h writes down the formats.
class Observer {
 public:
  virtual void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) = 0;
  /// After `gradients` were added to those that the inputs had.
  virtual void backward(const std::string& /*op*/, const std::vector<Tensor>& /*inputs*/,
                        const Tensor& /*output*/, const Tensor& /*dy*/,
                        const std::vector<Tensor>& /*gradients*/) {}

 protected:
  ~Observer() = default;
};

class Tape {
 public:
  /// Becomes this thread's current tape, inside any outer one.
  explicit Tape(Observer* observer = nullptr);
  ~Tape();  ///< the outer tape is current again
  Tape(const Tape&) = delete;
  static void* operator new(std::size_t) = delete;  // on the stack, so that inner tapes end before outer ones
  Tape& operator=(const Tape&) = delete;

  /// Sets dloss/dloss = 1 and runs the recorded ops backwards, newest first, adding up the gradient of every
  /// tensor that requires one. Activations are freed on the way, so a tape runs once. Throws Error when loss
  /// is not a scalar, was not recorded on this tape, or the tape has run before.
  void backward(const Tensor& loss);

  std::size_t size() const { return nodes_.size(); }  ///< ops recorded so far
  /// Those ops, a line each: name, inputs, output, with shapes and formats.
  friend std::ostream& operator<<(std::ostream& out, const Tape& tape);

  /// The tape that ops record on now, or nullptr: then nothing is recorded.
  static Tape* current();
  std::uint64_t number() const { return number_; }  ///< no other tape has it, nor 0

 private:
  friend Tensor record(Op op, std::vector<Tensor> inputs, Tensor output, Backward backward);
  friend void show(const char* op, const Tensor& input, const Tensor& result, std::optional<DType> sums);
  struct Node {
    std::string op;
    std::vector<Tensor> inputs;
    Tensor output;
    Backward backward;
  };
  void walk();                   ///< the ops backwards, newest first
  static Observer* observing();  ///< what ops compute forwards; null: nobody
  std::vector<Node> nodes_;
  std::uint64_t number_;
  Tape* outer_;
  Observer* observer_;
  bool has_run_ = false;
};

/// How every differentiable op ends:  return record("relu", {x}, y, [y](const Tensor& dy, const Needs&)
/// {...});  With a running sum:  record({"sum", DType::f32}, ...
Tensor record(Op op, std::vector<Tensor> inputs, Tensor output, Backward backward);

/// What an op computes on the way and does not hand on, for who observes: an infinite variance makes a finite
/// output. Costs nothing where nobody does.
void show(const char* op, const Tensor& input, const Tensor& result, std::optional<DType> sums = {});

}  // namespace tinymp
