#pragma once

#include <lessons/lab/classroom/message.h>
#include <tinymp/tensor/tensor.h>
#include <vector>

/// Tensors in the requests and replies of exercises.
namespace tinymp::exercise {

/// Every value is rounded to `dtype`.
inline Tensor tensor_of(Shape shape, const std::vector<double>& values, DType dtype) {
  if (dtype == DType::f64) return Tensor::from(shape, std::span<const double>(values));
  return Tensor::from(shape, std::vector<float>(values.begin(), values.end()), dtype);
}

inline void put_tensor(Message& message, const Tensor& tensor) {
  message.put(static_cast<std::int32_t>(tensor.dtype()));
  message.put_all(std::span(tensor.shape().begin(), tensor.shape().end()));
  message.put_all(tensor.to_doubles());
}

inline Tensor take_tensor(Message& request) {
  const auto dtype = static_cast<DType>(request.take<std::int32_t>());
  const Shape shape(request.all<std::int64_t>());
  return tensor_of(shape, request.take_all<double>(static_cast<std::size_t>(shape.size())), dtype);
}

}  // namespace tinymp::exercise
