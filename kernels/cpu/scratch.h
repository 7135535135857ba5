#pragma once

#include <tinymp/tensor/storage.h>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace tinymp::kernels::cpu {

/// Memory that a kernel needs while it runs, not initialised; of size 0 where it turns out that it needs
/// none. From the pool: a step that repeats asks nothing of the system.
template <class T>
class Scratch {
  static_assert(std::is_trivially_copyable_v<T>, "its values are not constructed, nor destroyed");

 public:
  explicit Scratch(std::int64_t count) {
    if (count > 0) storage_.emplace(static_cast<std::size_t>(count) * sizeof(T), Device::cpu);
  }
  T* data() const { return storage_ ? reinterpret_cast<T*>(storage_->data()) : nullptr; }

 private:
  std::optional<Storage> storage_;
};

}  // namespace tinymp::kernels::cpu
