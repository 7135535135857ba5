#pragma once

#include <tinymp/base/device.h>
#include <type_traits>

namespace tinymp {

/// What a kernel sees of a DeviceValue: one T in the memory of a device. To it what a View is to a Tensor.
template <class T>
struct Cell {
  T* memory = nullptr;
  Device device = Device::cpu;

  operator Cell<const T>() const requires(!std::is_const_v<T>) { return {memory, device}; }
};

}  // namespace tinymp
