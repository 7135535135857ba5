#pragma once

#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <span>
#include <string_view>

namespace tinymp {

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
