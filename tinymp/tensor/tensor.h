#pragma once

#include <tinymp/tensor/device_value.h>
#include <tinymp/tensor/storage.h>
#include <tinymp/tensor/view.h>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace tinymp::kernels {
struct StepOutcome;  // kernels/step.h
}

namespace tinymp {

/// Called with the outcome of an optimizer's step. It lies on the device and may not be computed yet.
using OnStep = std::function<void(Cell<const kernels::StepOutcome>)>;

/// A block of numbers with a shape and a format. The format is known at run time, so that every recipe runs
/// in one binary; kernels turn it into a C++ type with visit_dtype. Copies are handles on the same values.
class Tensor {
 public:
  Tensor() = default;  ///< no tensor: operator bool is false
  explicit Tensor(Shape shape, DType dtype = DType::f32, Device device = Device::cpu);  ///< not initialised
  /// A new tensor with the shape, format and device of `x`; its values are not initialised.
  static Tensor like(const Tensor& x) { return Tensor(x.shape(), x.dtype(), x.device()); }
  /// Rounds each value to `dtype`. Throws Error when the number of values does not fit the shape.
  static Tensor from(Shape shape, std::span<const float> values, DType dtype = DType::f32);
  static Tensor from(Shape shape, std::span<const double> values);  ///< DType::f64

  /// One value of memory that exists already, which the tensor keeps alive: the `place`-th of format `dtype`.
  static Tensor over(std::shared_ptr<Storage> memory, std::int64_t place, DType dtype);

  explicit operator bool() const { return self_ != nullptr; }
  const Shape& shape() const { return self().shape; }
  DType dtype() const { return self().dtype; }
  Device device() const { return self().device; }
  std::int64_t size() const { return self().shape.size(); }
  View view() const { return {self().memory(), self().dtype, self().device, self().shape}; }

  /// The values themselves. Throws Error unless T is the tensor's format, and the CPU sees its memory.
  template <class T>
  T* data() const {
    expect(dtype_of<T> == dtype(), "data<", name_of(dtype_of<T>), ">() of a tensor of ", dtype());
    expect(device() == Device::cpu, "data() of a tensor on ", device(), "; take .to(Device::cpu) first");
    return reinterpret_cast<T*>(self().memory());
  }
  std::vector<float> to_floats() const;    ///< f64 is rounded
  std::vector<double> to_doubles() const;  ///< always exact
  double item() const;                     ///< the one value of a scalar; throws Error for anything else
  // All three wait for the device. On Device::meta every value is 0.

  /// Returns the values on a device: this tensor itself when it is there already, else a copy without
  /// autograd. Throws MissingError when the machine has no such device.
  Tensor to(Device device) const;
  /// Moves the values to a device; every handle sees them there. Throws Error for a tensor that an optimizer
  /// has laid out in its arenas.
  void move_to(Device device) const;

  /// Rounds the values to another format; every handle sees them in it. Throws Error for a tensor that an
  /// optimizer has laid out in its arenas.
  void round_to(DType dtype) const;

  /// The same values under another shape of the same size, sharing memory. No autograd: see ops.h, reshape.
  Tensor viewed_as(Shape shape) const;

  // The part of a tensor that autograd uses; copies share it.
  // --------------------------------------------------------------

  bool requires_grad() const { return self().requires_grad; }
  const Tensor& set_requires_grad(bool on) const;
  /// True when no op computed this tensor: it is a parameter, or data.
  bool is_leaf() const { return !self().is_computed; }
  void mark_computed() const { self().is_computed = true; }
  /// dloss/dthis as the last backward left it, or an empty tensor.
  Tensor grad() const { return self().has_grad ? Tensor(self().grad) : Tensor(); }
  /// Forgets the gradient. A bound buffer stays, and the next backward overwrites it.
  void clear_grad() const;
  void set_grad(Tensor grad) const;
  /// Makes backward write the gradient into `buffer` (same shape; its format may differ). Optimizers bind
  /// each parameter to its part of one flat arena, so that checking and updating are passes over one array.
  void bind_grad(Tensor buffer) const;
  void unbind_grad() const;
  /// Where backward may write the gradient of this tensor, in its format: the buffer of bind_grad() if it has this format
  /// and holds no gradient yet, which saves a copy; else a new tensor. Until the gradient is set, the buffer is
  /// given out once; an op asks for its inputs in their order, as their gradients will be set.
  Tensor place_for_grad() const;
  Tensor bound_grad() const { return self().grad_is_bound ? Tensor(self().grad) : Tensor(); }
  /// Registers a function that the optimizer of this parameter calls when it takes its next step or skips it.
  /// zero_grad() forgets it. It is for values that move only with the weights: batch norm's running averages.
  void on_step(OnStep then) const { self().on_step.push_back(std::move(then)); }
  /// Removes and returns the functions that wait for the step, in the order of registration.
  std::vector<OnStep> take_on_step() const { return std::exchange(self().on_step, {}); }
  /// Moves the values to `offset` (in elements) inside another tensor's memory; every handle sees them there.
  void move_into(const Tensor& arena, std::int64_t offset) const;
  /// `shape` values of this tensor from element `offset` on, sharing memory.
  Tensor slice(std::int64_t offset, Shape shape) const;

  /// What the values are for, in the count of memory (base/memory_account.h). It is that of the whole block:
  /// of an arena when the tensor lies in one.
  void count_as(MemoryKind kind) const { self().values()->count_as(kind); }
  bool counts_as(MemoryKind kind) const { return self().values()->counts_as(kind); }

  /// Equal for handles on the same tensor.
  const void* id() const { return self_.get(); }

  /// The same tensor, its gradient and its shape, by a handle that keeps no values alive: they go with the last handle
  /// that is no outline. view() and data() throw Error then.
  Tensor outline() const { return Tensor(self().shared_from_this()); }
  /// True when both have values, in one block of memory.
  bool shares_memory(const Tensor& other) const {
    return self().storage != nullptr && self().storage == other.self().storage;
  }

 private:
  struct Self : std::enable_shared_from_this<Self> {
    Shape shape;
    DType dtype = DType::f32;
    Device device = Device::cpu;
    std::shared_ptr<Storage> storage;
    std::int64_t offset = 0;  ///< in elements
    bool requires_grad = false, is_computed = false;
    bool has_grad = false, grad_is_bound = false;
    bool place_is_taken = false;  ///< by place_for_grad(), until the gradient is set or cleared
    std::shared_ptr<Self> grad;
    std::vector<OnStep> on_step;

    const std::shared_ptr<Storage>& values() const {
      expect(storage != nullptr, "the values of a tensor of shape ", shape,
             " are gone: an outline keeps none");
      return storage;
    }
    std::byte* memory() const { return values()->data() + static_cast<std::size_t>(offset) * size_of(dtype); }
  };
  /// What all handles but outlines own.
  struct Values {
    std::shared_ptr<Self> self = std::make_shared<Self>();
    ~Values() { self->storage = nullptr; }
  };
  static std::shared_ptr<Self> made() {
    const auto values = std::make_shared<Values>();
    return {values, values->self.get()};
  }
  Self& self() const {
    expect(self_ != nullptr, "this tensor is empty; a gradient is, until backward() has run");
    return *self_;
  }
  explicit Tensor(std::shared_ptr<Self> self) : self_(std::move(self)) {}

  std::shared_ptr<Self> self_;
};

}  // namespace tinymp
