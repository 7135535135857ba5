#pragma once

#include <tinymp/amp/loss_scaler.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/optim/optimizers.h>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// Small tools for tests of optimizers and the loss scaler: parameters without a model, gradients without a
/// loss.
namespace tinymp::test {

/// A parameter that an optimizer will take.
inline Tensor parameter(Shape shape, std::span<const float> values, DType dtype = DType::f32) {
  return Tensor::from(shape, values, dtype).set_requires_grad(true);
}

inline Tensor parameter(std::vector<float> values, DType dtype = DType::f32) {
  return parameter({static_cast<std::int64_t>(values.size())}, values, dtype);
}

/// Leaves `values` as the gradient of p, as a backward pass would: in the buffer that p's optimizer bound,
/// rounded to the buffer's format.
inline void leave_gradient(const Tensor& p, std::span<const float> values) {
  const Tensor buffer = p.bound_grad();
  expect(buffer && static_cast<std::int64_t>(values.size()) == buffer.size(),
         "leave_gradient: not that many values");
  visit_dtype(buffer.dtype(), [&]<class T> {
    T* out = buffer.data<T>();
    for (const float value : values) *out++ = converted<T>(value);
  });
  p.set_grad(buffer);
}

inline void leave_gradient(const Tensor& p, std::initializer_list<float> values) {
  leave_gradient(p, std::span(values.begin(), values.size()));
}

inline std::vector<std::byte> bytes_of(const Tensor& t) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(t.size()) * size_of(t.dtype()));
  std::memcpy(bytes.data(), t.view().memory, bytes.size());
  return bytes;
}

/// Everything an optimizer keeps between two steps, bit for bit.
struct Snapshot {
  std::int64_t steps;
  float learning_rate;
  std::vector<std::vector<std::byte>> arenas;
  bool operator==(const Snapshot&) const = default;
};

inline Snapshot snapshot(const Optimizer& optimizer) {
  Snapshot now{optimizer.steps(),
               optimizer.learning_rate(),
               {bytes_of(optimizer.weights()), bytes_of(optimizer.master())}};
  for (const Tensor& m : optimizer.moments()) now.arenas.push_back(bytes_of(m));
  return now;
}

/// The whole protocol on the gradients that lie there.
inline DeviceValue<kernels::StepOutcome> run_step(Optimizer& optimizer, LossScaler& scaler) {
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  const DeviceValue<kernels::StepOutcome> result = optimizer.step(gradients, check);
  scaler.update(std::move(check));
  optimizer.zero_grad();
  return result;
}

/// What the Error says that `f` throws; a text that matches nothing when it throws none.
template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  }
  return "(nothing was thrown)";
}

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace tinymp::test

/// The error must say `part`; a failure shows what it says instead.
#define CHECK_ERROR_SAYS(part, ...)                                                                   \
  do {                                                                                                \
    const std::string error_text = ::tinymp::test::error_of([&] { static_cast<void>(__VA_ARGS__); }); \
    INFO("the error is: " << error_text);                                                             \
    CHECK(::tinymp::test::contains(error_text, part));                                                \
  } while (false)
