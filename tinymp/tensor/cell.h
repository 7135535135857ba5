#pragma once

#include <tinymp/base/device.h>
#include <concepts>

namespace tinymp {

/// What a kernel gets of a DeviceValue: one T in the memory of a device. (What it gets of a Tensor is a
/// View.)
template <class T>
struct Cell {
  Cell(T* memory, Device device) : memory(memory), device(device) {}
  template <class U>
  requires std::same_as<const U, T> Cell(const Cell<U>& writable)  // a writable cell is also readable
      : memory(writable.memory), device(writable.device) {}

  T* memory;
  Device device;
};

}  // namespace tinymp
