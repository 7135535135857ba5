#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/ops/ops.h>
#include <cmath>
#include <limits>

/// What an entry in op_cases.h cannot say of the ops on images: what they refuse, what sums in FP16 do.
namespace tinymp::test {
namespace {

Tensor zeros(Shape shape, DType dtype = DType::f32) {
  return Tensor::from(shape, std::vector<float>(static_cast<std::size_t>(shape.size()), 0.0f), dtype);
}

TEST_CASE("conv2d refuses other formats, shapes that do not fit, and windows that make no sense") {
  const Tensor x = zeros({2, 5, 6, 3}), w = zeros({3, 3, 3, 4});
  CHECK_SAYS("conv2d: f32(2, 5, 6, 3) meets f16(3, 3, 3, 4); cast() one of them",
             conv2d(x, cast(w, DType::f16)));
  CHECK_SAYS("conv2d: x(2, 5, 6, 3) and w(3, 3, 2, 4) do not fit", conv2d(x, zeros({3, 3, 2, 4})));
  CHECK_SAYS("conv2d: x(2, 90) and w(3, 3, 3, 4) do not fit", conv2d(zeros({2, 90}), w));
  CHECK_SAYS("conv2d: x(2, 5, 6, 3) and w(3, 4) do not fit", conv2d(x, zeros({3, 4})));
  CHECK_SAYS("conv2d: w(3, 0, 3, 4) has no values", conv2d(x, zeros({3, 0, 3, 4})));
  CHECK_SAYS("conv2d: a stride of 0", conv2d(x, w, {.stride = 0}));
  CHECK_SAYS("a padding of -1", conv2d(x, w, {.padding = -1}));
  CHECK_SAYS("conv2d: a window w(7, 3, 3, 4) is larger than the images x(2, 5, 6, 3)",
             conv2d(x, zeros({7, 3, 3, 4})));
  CHECK(conv2d(x, zeros({7, 3, 3, 4}), {.padding = 1}).shape() == Shape{2, 1, 6, 4});
  CHECK_SAYS("conv2d: sums of f32 values are kept in f32 or f16, not f64",
             conv2d(x, w, {.accumulate = DType::f64}));
}

TEST_CASE("pools and subsample refuse what is no image, and windows that make no sense") {
  const Tensor x = zeros({2, 5, 6, 3});
  CHECK_SAYS("max_pool2d: x(2, 90)", max_pool2d(zeros({2, 90}), 2, 2));
  CHECK_SAYS("max_pool2d: a window of 0 x 0", max_pool2d(x, 0, 1));
  CHECK_SAYS("a stride of 0", max_pool2d(x, 2, 0));
  CHECK_SAYS("max_pool2d: a window of 6 x 6 is larger than the images x(2, 5, 6, 3)", max_pool2d(x, 6, 2));
  CHECK_SAYS("avg_pool2d: a window of 6 x 6 is larger", avg_pool2d(x, 6, 2));
  CHECK_SAYS("global_avg_pool2d: x(2, 90)", global_avg_pool2d(zeros({2, 90})));
  CHECK_SAYS("global_avg_pool2d: a window of 0 x 6", global_avg_pool2d(zeros({2, 0, 6, 3})));
  CHECK_SAYS("subsample: x(2, 90)", subsample(zeros({2, 90}), 2, 90));
  CHECK_SAYS("subsample: a stride of 0", subsample(x, 0, 3));
  CHECK_SAYS("subsample: x(2, 5, 6, 3) has more than 2 channels", subsample(x, 2, 2));
}

TEST_CASE("conv2d with a bias has the bits of conv2d and add_bias, forward and backward") {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    const auto all = [dtype](bool at_once) {
      const auto leaf = [dtype](Shape shape) {
        std::vector<float> values(static_cast<std::size_t>(shape.size()));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 37) / 7 - 2;
        return cast(Tensor::from(shape, values), dtype).set_requires_grad(true);
      };
      const Tensor x = leaf({3, 5, 4, 3}), w = leaf({3, 3, 3, 5}), bias = leaf({5});
      Tape tape;
      const Tensor y =
          at_once ? conv2d(x, w, bias, {.padding = 1}) : add_bias(conv2d(x, w, {.padding = 1}), bias);
      tape.backward(sum(sigmoid(y)));
      return std::vector{y.to_doubles(), x.grad().to_doubles(), w.grad().to_doubles(),
                         bias.grad().to_doubles()};
    };
    INFO(dtype);
    CHECK(all(true) == all(false));
  }
  CHECK_SAYS("conv2d: w(3, 3, 3, 4) and bias(3) do not fit",
             conv2d(zeros({2, 5, 6, 3}), zeros({3, 3, 3, 4}), zeros({3})));
  CHECK_SAYS("conv2d: f32(2, 5, 6, 3) meets f16(4)",
             conv2d(zeros({2, 5, 6, 3}), zeros({3, 3, 3, 4}), zeros({4}, DType::f16)));
}

TEST_CASE("conv2d: sums in FP16 stop at 2048, forward and backward") {
  const auto ones = [](Shape shape) {
    return Tensor::from(shape, std::vector<float>(static_cast<std::size_t>(shape.size()), 1.0f), DType::f16)
        .set_requires_grad(true);
  };
  for (const bool half_sums : {false, true}) {
    const Conv2dOptions options{.accumulate = half_sums ? DType::f16 : DType::f32};
    const Tensor x = ones({1, 50, 50, 1}), w = ones({50, 50, 1, 2500});
    Tape tape;
    const Tensor y = conv2d(x, w, options);
    CHECK(y.to_floats()[0] == (half_sums ? 2048 : 2500));
    tape.backward(sum(y));
    CHECK(x.grad().to_floats()[7] == (half_sums ? 2048 : 2500));  // over o

    const Tensor wide = ones({1, 50, 50, 1}), tap = ones({1, 1, 1, 1});
    Tape other;
    other.backward(sum(conv2d(wide, tap, options)));
    CHECK(tap.grad().item() == (half_sums ? 2048 : 2500));  // over all places
  }
}

TEST_CASE("conv2d: gradients that nobody asked for are left out, the others are the same") {
  const auto gradients = [](bool of_x, bool of_w) {
    std::vector<float> values(2 * 4 * 4 * 3), weights(2 * 2 * 3 * 5);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 7) - 3;
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 5) - 2;
    const Tensor x = Tensor::from({2, 4, 4, 3}, values).set_requires_grad(of_x);
    const Tensor w = Tensor::from({2, 2, 3, 5}, weights).set_requires_grad(of_w);
    Tape tape;
    tape.backward(mse(conv2d(x, w), zeros({2, 3, 3, 5})));
    std::vector<std::vector<float>> found;
    for (const Tensor& t : {x, w}) found.push_back(t.grad() ? t.grad().to_floats() : std::vector<float>{});
    return found;
  };
  const auto all = gradients(true, true);
  CHECK(gradients(true, false) == std::vector<std::vector<float>>{all[0], {}});
  CHECK(gradients(false, true) == std::vector<std::vector<float>>{{}, all[1]});
}

}  // namespace
}  // namespace tinymp::test
