#pragma once

#include <tinymp/base/device.h>
#include <tinymp/numeric/dtype.h>
#include <tinymp/tensor/shape.h>
#include <cstdint>

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

}  // namespace tinymp
