#pragma once

#include <tinymp/base/device.h>
#include <concepts>

namespace tinymp {

/// What a kernel sees of a DeviceValue: one T in the memory of a device. To it what a View is to a Tensor.
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
