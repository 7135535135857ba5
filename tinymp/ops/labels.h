#pragma once

#include <tinymp/tensor/storage.h>
#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace tinymp {

/// Labels where a kernel finds them: beside what they choose from.
class Labels {
 public:
  Labels(std::span<const std::int32_t> labels, Device device)
      : memory_(std::make_shared<Storage>(labels.size_bytes(), device)), count_(labels.size()) {
    allocator(device).copy_in(memory_->data(), labels.data(), labels.size_bytes());
  }
  std::span<const std::int32_t> view() const {
    return {reinterpret_cast<const std::int32_t*>(memory_->data()), count_};
  }

 private:
  std::shared_ptr<Storage> memory_;
  std::size_t count_;
};

/// Throws Error unless x is (B,C), and there is a label in 0 .. C-1 for each row.
inline void expect_labels(std::string_view op, std::string_view name, const Tensor& x,
                          std::span<const std::int32_t> labels) {
  expect(x.shape().rank() == 2 && x.shape()[0] == static_cast<std::int64_t>(labels.size()) && !labels.empty(),
         op, ": ", labels.size(), " labels for ", name, " of shape ", x.shape(), "; they are (B,C)");
  for (const std::int32_t label : labels) {
    expect(label >= 0 && label < x.shape()[1], op, ": label ", label, " is not one of the ", x.shape()[1],
           " classes");
  }
}

}  // namespace tinymp
