#include <tinymp/numeric/convert.h>
#include <tinymp/tensor/tensor.h>
#include <algorithm>

namespace tinymp {

Tensor::Tensor(Shape shape, DType dtype, Device device) : self_(made()) {
  self_->shape = shape;
  self_->dtype = dtype;
  self_->device = device;
  self_->storage = std::make_shared<Storage>(static_cast<std::size_t>(shape.size()) * size_of(dtype), device);
}

Tensor Tensor::from(Shape shape, std::span<const float> values, DType dtype) {
  Tensor t(shape, dtype);
  expect(static_cast<std::int64_t>(values.size()) == t.size(), "Tensor::from: ", values.size(),
         " values for a tensor of shape ", shape);
  visit_any_dtype(dtype, [&]<class T> { convert(values, std::span<T>(t.data<T>(), values.size())); });
  return t;
}

Tensor Tensor::from(Shape shape, std::span<const double> values) {
  Tensor t(shape, DType::f64);
  expect(static_cast<std::int64_t>(values.size()) == t.size(), "Tensor::from: ", values.size(),
         " values for a tensor of shape ", shape);
  std::copy(values.begin(), values.end(), t.data<double>());
  return t;
}

Tensor Tensor::to(Device device) const {
  if (device == this->device()) return *this;
  expect(this->device() != Device::meta || device == Device::cpu,
         "a tensor on meta has no values to move to ", device);
  Tensor moved(shape(), dtype(), device);
  const std::size_t bytes = static_cast<std::size_t>(size()) * size_of(dtype());
  if (device == Device::cpu) {
    allocator(this->device()).copy_out(moved.self().memory(), self().memory(), bytes);
  } else {
    allocator(device).copy_in(moved.self().memory(), self().memory(), bytes);
  }
  return moved;
}

void Tensor::move_to(Device device) const {
  expect(!self().grad_is_bound, "move_to: a tensor of shape ", shape(),
         " belongs to an optimizer; move parameters before the optimizer is made");
  const Tensor moved = to(device);
  self().device = device;
  self().storage = moved.self_->storage;
  self().offset = moved.self_->offset;
  clear_grad();
}

void Tensor::round_to(DType dtype) const {
  expect(!self().grad_is_bound, "round_to: a tensor of shape ", shape(),
         " belongs to an optimizer; change formats before the optimizer is made");
  if (dtype == this->dtype()) return;
  const auto rounded = [&] {
    if (device() == Device::meta) return Tensor(shape(), dtype, Device::meta);
    const std::vector<double> values = to_doubles();
    return dtype == DType::f64 ? from(shape(), values)
                               : from(shape(), std::vector<float>(values.begin(), values.end()), dtype);
  };
  const Tensor here = rounded().to(device());
  self().dtype = dtype;
  self().storage = here.self_->storage;
  self().offset = here.self_->offset;
  clear_grad();
}

std::vector<float> Tensor::to_floats() const {
  if (device() != Device::cpu) return to(Device::cpu).to_floats();
  std::vector<float> values(static_cast<std::size_t>(size()));
  visit_any_dtype(dtype(), [&]<class T> {
    convert(std::span<const T>(data<T>(), values.size()), std::span<float>(values));
  });
  return values;
}

std::vector<double> Tensor::to_doubles() const {
  if (device() != Device::cpu) return to(Device::cpu).to_doubles();
  if (dtype() == DType::f64) return {data<double>(), data<double>() + size()};
  const std::vector<float> values = to_floats();
  return {values.begin(), values.end()};
}

double Tensor::item() const {
  expect(size() == 1, "item() needs a tensor of one value, this one has shape ", shape());
  return to_doubles()[0];
}

Tensor Tensor::viewed_as(Shape shape) const {
  expect(shape.size() == size(), "a tensor of shape ", this->shape(), " cannot be seen as ", shape);
  return slice(0, shape);
}

Tensor Tensor::slice(std::int64_t offset, Shape shape) const {
  expect(offset >= 0 && offset + shape.size() <= size(), "slice: ", shape, " from element ", offset,
         " on does not lie inside ", this->shape());
  Tensor part;
  part.self_ = made();
  part.self_->shape = shape;
  part.self_->dtype = dtype();
  part.self_->device = device();
  part.self_->storage = self().values();
  part.self_->offset = self().offset + offset;
  return part;
}

Tensor Tensor::over(std::shared_ptr<Storage> memory, std::int64_t place, DType dtype) {
  auto self = made();
  self->dtype = dtype;
  self->device = memory->device();
  self->offset = place;
  self->storage = std::move(memory);
  return Tensor(std::move(self));
}

const Tensor& Tensor::set_requires_grad(bool on) const {
  self().requires_grad = on;
  return *this;
}

void Tensor::clear_grad() const {
  self().has_grad = self().place_is_taken = false;
  if (!self().grad_is_bound) self().grad = nullptr;
}

void Tensor::set_grad(Tensor grad) const {
  self().grad = std::move(grad.self_);
  self().has_grad = true;
  self().place_is_taken = false;
}

void Tensor::bind_grad(Tensor buffer) const {
  expect(buffer.shape() == shape(), "bind_grad: a buffer of shape ", buffer.shape(), " for a parameter of ",
         shape());
  buffer.count_as(MemoryKind::gradients);
  self().grad = std::move(buffer.self_);
  self().grad_is_bound = true;
  self().has_grad = false;
}

Tensor Tensor::place_for_grad() const {
  const Tensor buffer = bound_grad();
  if (!buffer || buffer.dtype() != dtype() || self().has_grad || self().place_is_taken) return like(*this);
  self().place_is_taken = true;
  return buffer;
}

void Tensor::unbind_grad() const {
  self().grad_is_bound = false;
  clear_grad();
}

void Tensor::move_into(const Tensor& arena, std::int64_t offset) const {
  const Tensor target = arena.slice(offset, shape());
  expect(arena.dtype() == dtype() && arena.device() == device(), "move_into: ", dtype(), " values on ",
         device(), " into an arena of ", arena.dtype(), " on ", arena.device());
  allocator(device()).copy_within(target.self_->memory(), self().memory(),
                                  static_cast<std::size_t>(size()) * size_of(dtype()));
  self().storage = target.self_->storage;
  self().offset = target.self_->offset;
}

}  // namespace tinymp
