#pragma once

#include <tinymp/base/device.h>
#include <tinymp/numeric/dtype.h>
#include <tinymp/tensor/shape.h>
#include <concepts>

namespace tinymp {

/// What a kernel gets of a tensor: memory and how to read it. A View owns nothing and has no autograd.
struct View {
  void* memory = nullptr;
  DType dtype = DType::f32;
  Device device = Device::cpu;
  Shape shape;

  std::int64_t size() const { return shape.size(); }
  std::int64_t rows() const { return shape.rows(); }
  std::int64_t cols() const { return shape.cols(); }

  template <class T>
  T* data() const {
    return static_cast<T*>(memory);
  }
};

/// What a kernel gets of a DeviceValue: one T in the memory of a device.
/// (What it gets of a Tensor is a View.)
template <class T>
struct Cell {
  Cell(T* memory, Device device) : memory(memory), device(device) {}
  template <class U>
  requires std::same_as<const U, T> Cell(const Cell<U>& writable)  // who may write may read
      : memory(writable.memory), device(writable.device) {}

  T* memory;
  Device device;
};

}  // namespace tinymp
