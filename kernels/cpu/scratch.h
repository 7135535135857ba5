#pragma once

#include <tinymp/tensor/storage.h>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace tinymp::kernels::cpu {

/// Memory that a kernel needs while it runs, not initialised. Size 0 means that it needs none. It comes from
/// the pool, so a repeated step asks the system for nothing.
template <class T>
class Scratch {
  static_assert(std::is_trivially_copyable_v<T>, "its values are not constructed, nor destroyed");

 public:
  explicit Scratch(std::int64_t count) {
    if (count > 0)
      storage_.emplace(static_cast<std::size_t>(count) * sizeof(T), Device::cpu, MemoryKind::scratch);
  }
  T* data() const { return storage_ ? reinterpret_cast<T*>(storage_->data()) : nullptr; }

 private:
  std::optional<Storage> storage_;
};

}  // namespace tinymp::kernels::cpu
