#pragma once

#include <tinymp/tensor/storage.h>
#include <concepts>
#include <memory>
#include <type_traits>

namespace tinymp {

/// What a kernel gets of a DeviceValue: one T in the memory of a device.
/// (What it gets of a Tensor is a View.)
template <class T>
struct Cell {
  Cell(T* memory, Device device) : memory(memory), device(device) {}
  template <class U>
  requires std::same_as<const U, T> Cell(const Cell<U>& writable)  // a writable cell is readable, too
      : memory(writable.memory), device(writable.device) {}

  T* memory;
  Device device;
};

/// One T that lives on a device: a counter, a flag, a learning rate. Copies are handles on the same value.
/// Kernels read and write it in their order. Only read() waits for the device.
template <class T>
class DeviceValue {
  static_assert(std::is_trivially_copyable_v<T>, "it is copied byte by byte");

 public:
  /// Not initialised.
  explicit DeviceValue(Device device) : storage_(std::make_shared<Storage>(sizeof(T), device)) {}
  DeviceValue(Device device, const T& value) : storage_(std::make_shared<Storage>(sizeof(T), device)) {
    write(value);
  }

  Device device() const { return storage_->device(); }
  Cell<T> cell() const { return {reinterpret_cast<T*>(storage_->data()), device()}; }

  T read() const {
    T value;
    allocator(device()).copy_out(&value, storage_->data(), sizeof(T));
    return value;
  }
  /// The memory itself, for a tensor over a part of it (Tensor::over).
  const std::shared_ptr<Storage>& storage() const { return storage_; }
  /// Takes its turn among the kernels; does not wait.
  void write(const T& value) const { allocator(device()).copy_in(storage_->data(), &value, sizeof(T)); }

 private:
  std::shared_ptr<Storage> storage_;
};

}  // namespace tinymp
