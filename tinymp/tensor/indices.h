#pragma once

#include <tinymp/tensor/storage.h>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>

namespace tinymp {

/// Labels or tokens on the device of the values that they belong to. An op checks them by their bounds, without a look at
/// the device. Copies are handles on the same numbers.
class Indices {
 public:
  Indices(std::span<const std::int32_t> values, Device device)
      : Indices(static_cast<std::int64_t>(values.size()), 0, -1, device) {
    if (values.empty()) return;
    const auto [smallest, largest] = std::ranges::minmax(values);
    smallest_ = smallest, largest_ = largest;
    allocator(device).copy_in(memory_->data(), values.data(), values.size_bytes());
  }
  /// `count` numbers that a kernel will write, none below `smallest` or above `largest`.
  Indices(std::int64_t count, std::int32_t smallest, std::int32_t largest, Device device)
      : memory_(std::make_shared<Storage>(static_cast<std::size_t>(count) * sizeof(std::int32_t), device)),
        count_(count),
        smallest_(smallest),
        largest_(largest) {}

  std::span<const std::int32_t> view() const { return written(); }
  std::span<std::int32_t> written() const {
    return {reinterpret_cast<std::int32_t*>(memory_->data()), static_cast<std::size_t>(count_)};
  }
  std::int64_t size() const { return count_; }
  std::int32_t smallest() const { return smallest_; }
  std::int32_t largest() const { return largest_; }
  Device device() const { return memory_->device(); }

 private:
  std::shared_ptr<Storage> memory_;
  std::int64_t count_;
  std::int32_t smallest_, largest_;
};

}  // namespace tinymp
