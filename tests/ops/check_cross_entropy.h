#pragma once

#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/ops/ops.h>

/// cross_entropy and its gradient against long double, from the same logits, however far from 0 they lie.
namespace tinymp::test {

/// logits:(B,C) in FP32.
inline void check_cross_entropy(const Tensor& logits, const std::vector<std::int32_t>& labels,
                                Device device) {
  const std::vector<double> x = logits.to_doubles();
  const auto columns = static_cast<std::size_t>(logits.shape()[1]), batch = labels.size();
  long double exact_loss = 0;
  std::vector<long double> exact;
  for (std::size_t b = 0; b < batch; ++b) {
    const auto row = x.begin() + static_cast<std::ptrdiff_t>(b * columns);
    const auto top = static_cast<long double>(*std::max_element(row, row + logits.shape()[1]));
    long double sum = 0;
    for (std::size_t c = 0; c < columns; ++c)
      sum += std::exp(static_cast<long double>(x[b * columns + c]) - top);
    const auto label = static_cast<std::size_t>(labels[b]);
    exact_loss += (top - static_cast<long double>(x[b * columns + label])) + std::log(sum);
    for (std::size_t c = 0; c < columns; ++c)
      exact.push_back(std::exp(static_cast<long double>(x[b * columns + c]) - top) / sum -
                      (c == label ? 1 : 0));
  }
  const auto B = static_cast<long double>(batch);
  exact_loss /= B;

  const Tensor there = reshape(logits, logits.shape()).to(device).set_requires_grad(true);
  Tape tape;
  const Tensor loss = cross_entropy(there, labels);
  tape.backward(loss);
  INFO("logits from " << x[0] << " on, loss " << loss.item() << ", exactly " << exact_loss);
  CHECK(std::fabs(static_cast<long double>(loss.item()) - exact_loss) <= 1e-6L * std::max(1.0L, exact_loss));
  const std::vector<double> gradients = there.grad().to_doubles();
  for (std::size_t i = 0; i < exact.size(); ++i) {
    INFO("logit " << i << ": gradient " << gradients[i] << ", exactly " << exact[i] / B);
    REQUIRE(std::fabs(static_cast<long double>(gradients[i]) - exact[i] / B) <= 1e-6L / B);
  }
}

inline void check_cross_entropy(Device device) {
  const auto row = [](std::vector<float> values) {
    const auto columns = static_cast<std::int64_t>(values.size());
    return Tensor::from({1, columns}, values);
  };
  for (const float v : {0.0f, 1.0f, 1e2f, 1e4f, 1e6f, 1e7f, 1e8f, 3e38f})
    for (const float sign : {1.0f, -1.0f}) check_cross_entropy(row({sign * v, sign * v}), {0}, device);
  for (const float v : {15.0f, 20.0f, 80.0f, 200.0f})
    for (const std::int32_t label : {0, 1}) check_cross_entropy(row({v, 0}), {label}, device);
  std::uint64_t seed = 0;
  for (const float shift : {0.0f, 1e2f, -1e2f, 1e4f, 1e6f, -1e6f, 1e9f, 1e30f, -1e30f}) {
    for (const auto& [rows, columns] : {std::pair(1, 2), {7, 10}, {64, 10}, {130, 3}, {3, 1000}, {2, 5000}}) {
      std::vector<float> values = drawn({rows, columns}, DType::f32, ++seed, 15).to_floats();
      for (float& v : values) v += shift;
      std::vector<std::int32_t> labels;
      for (int b = 0; b < rows; ++b) labels.push_back((7 * b + 3) % columns);
      check_cross_entropy(Tensor::from({rows, columns}, values), labels, device);
    }
  }
}

}  // namespace tinymp::test
