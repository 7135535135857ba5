#pragma once

#include <tinymp/tensor/storage.h>
#include <cstdint>
#include <memory>
#include <span>

namespace tinymp {

/// Labels or tokens where a kernel finds them: beside the values that they belong to.
class Indices {
 public:
  Indices(std::span<const std::int32_t> values, Device device)
      : memory_(std::make_shared<Storage>(values.size_bytes(), device)), count_(values.size()) {
    allocator(device).copy_in(memory_->data(), values.data(), values.size_bytes());
  }
  std::span<const std::int32_t> view() const {
    return {reinterpret_cast<const std::int32_t*>(memory_->data()), count_};
  }

 private:
  std::shared_ptr<Storage> memory_;
  std::size_t count_;
};

}  // namespace tinymp
