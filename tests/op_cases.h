#pragma once

#include <tinymp/base/rng.h>
#include <tinymp/ops/ops.h>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// Every op, one entry each: what it is given, how it is called, what it ought to give. From an entry come
/// the tests of forward (ops/forward_test.cpp), of backward (ops/gradient_test.cpp), of both on a GPU and
/// under emulation (cuda/ops_test.cpp), and the golden hashes. A
/// new op is a new entry at the end of this file; ops/coverage_test.cpp names the ops that have none.
namespace tinymp::test {

/// An input as the oracle sees it: the values that the tensor really holds, after rounding to its format.
struct Input {
  Shape shape;
  std::vector<double> values;

  std::int64_t size() const { return shape.size(); }
  long double operator[](std::int64_t i) const { return values[static_cast<std::size_t>(i)]; }
  long double at(std::int64_t row, std::int64_t column) const { return (*this)[row * shape.cols() + column]; }
};

/// What exact arithmetic gives. `slack` is how far the op's own arithmetic may be off, in units of its
/// precision (2^-24 for FP32, 2^-53 for f64), before the result is rounded to the output's format. No slack:
/// the rounded value itself.
struct Exact {
  long double value = 0;
  long double slack = 0;
  long double terms = 0;  ///< what random cases are held against, where it is not the largest value
  long double stored =
      0;  ///< as slack, for what the op stores on the way in 16 bits, in units of that format
};

struct OpCase {
  std::string name;
  std::vector<std::vector<Shape>> shapes;  ///< each line: the shapes of all inputs, for one call
  std::function<Tensor(std::span<const Tensor>)> call;
  std::function<std::vector<Exact>(std::span<const Input>)> oracle;  ///< the output's values, row by row

  std::function<DType(DType)> output = [](DType in) { return in; };
  double spread = 2;           ///< inputs are drawn from -spread .. spread,
  double grid = 0x1p-20;       ///< as multiples of this,
  double distance_from_0 = 0;  ///< and not nearer to 0 than this: relu has no derivative there
  bool positive = false;       ///< and not below 0: log has no values there
  double step = 0x1p-17;       ///< of the finite differences
};

/// The inputs of one call: the same values in every format, but for their rounding.
inline std::vector<Tensor> inputs_of(const OpCase& op, const std::vector<Shape>& shapes, DType dtype,
                                     Device device = Device::cpu, std::uint64_t seed = 2018) {
  std::vector<Tensor> inputs;
  Rng rng(seed);
  for (const Shape& shape : shapes) {
    std::vector<double> values(static_cast<std::size_t>(shape.size()));
    for (double& v : values) {
      const auto steps = static_cast<std::uint64_t>(2 * op.spread / op.grid);
      do v = static_cast<double>(rng.below(steps + 1)) * op.grid - op.spread;
      while (std::fabs(v) < op.distance_from_0 || (op.positive && v < 0));
    }
    inputs.push_back(cast(Tensor::from(shape, std::span<const double>(values)), dtype).to(device));
  }
  return inputs;
}

inline std::vector<Input> as_oracle_inputs(std::span<const Tensor> tensors) {
  std::vector<Input> inputs;
  for (const Tensor& x : tensors) inputs.push_back({x.shape(), x.to_doubles()});
  return inputs;
}

// What the entries below share.
// ---------------------------------------------------------------------------------------

/// value by value: f(x), within `slack` roundings of |f(x)|.
template <class F>
std::function<std::vector<Exact>(std::span<const Input>)> each_value(long double slack, F f) {
  return [slack, f](std::span<const Input> in) {
    std::vector<Exact> y;
    for (std::int64_t i = 0; i < in[0].size(); ++i) {
      const long double value = f(in[0][i]);
      y.push_back({value, slack * std::fabs(value)});
    }
    return y;
  };
}

/// How many roundings of the sum of magnitudes a sum of n < 2^20 values costs when it is kept in 16 lanes for
/// each 1024 values, and those sums in the same way: 64 in a lane and 4 in the tree, twice.
inline long double roundings_of_sum(std::int64_t n) {
  const auto once = [](std::int64_t terms) { return std::min<std::int64_t>(terms, 64) + 4; };
  return static_cast<long double>(once(n) + (n > 1024 ? once(n / 1024 + 1) : 0));
}

inline DType at_least_f32(DType in) { return in == DType::f64 ? DType::f64 : DType::f32; }

/// Labels and targets are data, made from their place alone.
inline std::vector<std::int32_t> labels_for(const Shape& logits) {
  std::vector<std::int32_t> labels;
  for (std::int64_t b = 0; b < logits[0]; ++b)
    labels.push_back(static_cast<std::int32_t>((7 * b + 3) % logits[1]));
  return labels;
}
inline long double target_at(std::int64_t i) { return static_cast<long double>((37 * i + 5) % 64) / 64; }
inline Tensor target_for(const Tensor& x) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < x.size(); ++i) values.push_back(static_cast<double>(target_at(i)));
  return cast(Tensor::from(x.shape(), std::span<const double>(values)), at_least_f32(x.dtype()))
      .to(x.device());
}

inline const std::vector<std::vector<Shape>>& shapes_of_one() {
  static const std::vector<std::vector<Shape>> shapes{{{}},           {{1}}, {{17}},      {{3, 5}},
                                                      {{2, 3, 4, 5}}, {{0}}, {{33, 1025}}};
  return shapes;
}

// The entries.
// --------------------------------------------------------------------------------------------------------

inline OpCase matmul_case() {
  OpCase op{.name = "matmul",
            .shapes = {{{3, 5}, {5, 4}},
                       {{1, 1}, {1, 1}},
                       {{7, 1}, {1, 9}},
                       {{2, 390}, {390, 3}},
                       {{4, 0}, {0, 3}},
                       {{0, 3}, {3, 2}},
                       {{3, 2}, {2, 0}},
                       {{97, 20}, {20, 193}}},
            .call = [](std::span<const Tensor> in) { return matmul(in[0], in[1]); },
            .oracle =
                [](std::span<const Input> in) {
                  std::vector<Exact> y;
                  const std::int64_t K = in[0].shape[1];
                  for (std::int64_t b = 0; b < in[0].shape[0]; ++b) {
                    for (std::int64_t o = 0; o < in[1].shape[1]; ++o) {
                      long double sum = 0, magnitude = 0;
                      for (std::int64_t i = 0; i < K; ++i) {
                        const long double term = in[0].at(b, i) * in[1][i * in[1].shape[1] + o];
                        sum += term;
                        magnitude += std::fabs(term);
                      }
                      y.push_back({sum, static_cast<long double>(K + 1) * magnitude, magnitude});
                    }
                  }
                  return y;
                }};
  return op;
}

inline OpCase add_bias_case() {
  return {.name = "add_bias",
          .shapes = {{{3, 5}, {5}},
                     {{1, 1}, {1}},
                     {{70, 65}, {65}},
                     {{0, 3}, {3}},
                     {{2, 0}, {0}},
                     {{17, 1100}, {1100}}},
          .call = [](std::span<const Tensor> in) { return add_bias(in[0], in[1]); },
          .oracle =
              [](std::span<const Input> in) {
                std::vector<Exact> y;
                for (std::int64_t i = 0; i < in[0].size(); ++i)
                  y.push_back({in[0][i] + in[1][i % in[1].size()]});
                return y;
              }};
}

/// Halves up to 2, and few terms: no sum needs more digits than bfloat16 has, so that what is rounded on the
/// way is the activation alone. (That the rest is rounded as in matmul and add_bias: ops/linear_test.cpp.)
inline OpCase linear_case(std::optional<Activation> f) {
  return {.name = f ? "linear with sigmoid" : "linear",
          .shapes = {{{3, 4}, {4, 5}, {5}},
                     {{1, 1}, {1, 1}, {1}},
                     {{4, 2}, {2, 33}, {33}},
                     {{2, 0}, {0, 3}, {3}}},
          .call = [f](std::span<const Tensor> in) { return linear(in[0], in[1], in[2], {.activation = f}); },
          .oracle =
              [f](std::span<const Input> in) {
                std::vector<Exact> y;
                for (std::int64_t b = 0; b < in[0].shape[0]; ++b) {
                  for (std::int64_t o = 0; o < in[2].size(); ++o) {
                    long double z = in[2][o];
                    for (std::int64_t i = 0; i < in[1].shape[0]; ++i) z += in[0].at(b, i) * in[1].at(i, o);
                    y.push_back(f ? Exact{1 / (1 + std::exp(-z)), 2} : Exact{z});
                  }
                }
                return y;
              },
          .grid = 0.5};
}

inline OpCase add_case() {
  return {.name = "add",
          .shapes = {{{}, {}},
                     {{17}, {17}},
                     {{3, 5}, {3, 5}},
                     {{2, 3, 4, 5}, {2, 3, 4, 5}},
                     {{0}, {0}},
                     {{33, 1025}, {33, 1025}}},
          .call = [](std::span<const Tensor> in) { return add(in[0], in[1]); },
          .oracle =
              [](std::span<const Input> in) {
                std::vector<Exact> y;
                for (std::int64_t i = 0; i < in[0].size(); ++i) y.push_back({in[0][i] + in[1][i]});
                return y;
              }};
}

inline OpCase scale_case() {
  return {.name = "scale",
          .shapes = shapes_of_one(),
          .call = [](std::span<const Tensor> in) { return scale(in[0], -0.75f); },
          .oracle = each_value(0, [](long double x) { return -0.75L * x; })};
}

inline OpCase scale_by_tensor_case() {
  return {.name = "scale by a tensor",
          .shapes = shapes_of_one(),
          .call =
              [](std::span<const Tensor> in) {
                const Tensor factor =
                    cast(Tensor::from(Shape{}, std::vector<float>{-0.75f}), at_least_f32(in[0].dtype()));
                return scale(in[0], factor.to(in[0].device()));
              },
          .oracle = each_value(0, [](long double x) { return -0.75L * x; })};
}

inline OpCase relu_case() {
  return {.name = "relu",
          .shapes = shapes_of_one(),
          .call = [](std::span<const Tensor> in) { return relu(in[0]); },
          .oracle = each_value(0, [](long double x) { return x > 0 ? x : 0; }),
          .distance_from_0 = 0x1p-10};
}

inline OpCase sigmoid_case() {
  return {.name = "sigmoid",
          .shapes = shapes_of_one(),
          .call = [](std::span<const Tensor> in) { return sigmoid(in[0]); },
          .oracle = each_value(2, [](long double x) { return 1 / (1 + std::exp(-x)); }),
          .spread = 8};
}

inline OpCase tanh_case() {
  return {.name = "tanh",
          .shapes = shapes_of_one(),
          .call = [](std::span<const Tensor> in) { return tanh(in[0]); },
          .oracle = each_value(2, [](long double x) { return std::tanh(x); }),
          .spread = 4};
}

/// Multiples of 2^-6 below 2 fit every format, and so do their neighbours one step away: nothing is rounded,
/// and the differences are exact. (What is rounded, tests/ops/cast_test.cpp looks at.)
inline OpCase cast_case(DType to) {
  return {.name = "cast to " + std::string(name_of(to)),
          .shapes = shapes_of_one(),
          .call = [to](std::span<const Tensor> in) { return cast(in[0], to); },
          .oracle = each_value(0, [](long double x) { return x; }),
          .output = [to](DType) { return to; },
          .grid = 0x1p-6,
          .step = 0x1p-6};
}

inline OpCase reshape_case() {
  return {.name = "reshape",
          .shapes = {{{6}}, {{2, 3}}, {{1, 2, 3, 1}}},
          .call =
              [](std::span<const Tensor> in) {
                return reshape(in[0], {3, 2});
              },
          .oracle = each_value(0, [](long double x) { return x; })};
}

inline OpCase sum_case(bool mean_of_them) {
  return {
      .name = mean_of_them ? "mean" : "sum",
      .shapes =
          mean_of_them
              ? std::vector<std::vector<Shape>>{{{}}, {{1}}, {{17}}, {{3, 5}}, {{2, 3, 4, 5}}, {{33, 1025}}}
              : shapes_of_one(),
      .call = [=](std::span<const Tensor> in) { return mean_of_them ? mean(in[0]) : sum(in[0]); },
      .oracle =
          [=](std::span<const Input> in) {
            long double sum = 0, magnitude = 0;
            for (std::int64_t i = 0; i < in[0].size(); ++i) {
              sum += in[0][i];
              magnitude += std::fabs(in[0][i]);
            }
            const long double n = mean_of_them ? static_cast<long double>(in[0].size()) : 1;
            return std::vector<Exact>{
                {sum / n, (roundings_of_sum(in[0].size()) + 2) * magnitude / n, magnitude / n}};
          },
      .output = at_least_f32};
}

inline OpCase cross_entropy_case() {
  return {.name = "cross_entropy",
          .shapes = {{{3, 5}}, {{1, 1}}, {{1, 7}}, {{130, 10}}, {{2, 1100}}},
          .call = [](std::span<const Tensor> in) { return cross_entropy(in[0], labels_for(in[0].shape())); },
          .oracle =
              [](std::span<const Input> in) {
                const Shape& shape = in[0].shape;
                const std::vector<std::int32_t> labels = labels_for(shape);
                const long double of_sum = roundings_of_sum(shape[1]) + 6;  // and of its terms
                long double loss = 0, slack = 0;
                for (std::int64_t b = 0; b < shape[0]; ++b) {
                  long double top = in[0].at(b, 0), sum = 0;
                  for (std::int64_t c = 0; c < shape[1]; ++c) top = std::max(top, in[0].at(b, c));
                  for (std::int64_t c = 0; c < shape[1]; ++c) sum += std::exp(in[0].at(b, c) - top);
                  const long double below = top - in[0].at(b, labels[static_cast<std::size_t>(b)]);
                  loss += below + std::log(sum);
                  slack += of_sum + (roundings_of_sum(shape[0]) + 3) * (below + std::log(sum));
                }
                const long double B = static_cast<long double>(shape[0]);
                return std::vector<Exact>{{loss / B, slack / B, std::max(1.0L, loss / B)}};
              },
          .output = at_least_f32,
          .spread = 6};
}

inline OpCase mse_case() {
  return {.name = "mse",
          .shapes = {{{}}, {{1}}, {{17}}, {{3, 5}}, {{2, 3, 4, 5}}, {{33, 1025}}},
          .call = [](std::span<const Tensor> in) { return mse(in[0], target_for(in[0])); },
          .oracle =
              [](std::span<const Input> in) {
                long double sum = 0;
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  const long double difference = in[0][i] - target_at(i);
                  sum += difference * difference;
                }
                const long double n = static_cast<long double>(in[0].size());
                return std::vector<Exact>{{sum / n, (roundings_of_sum(in[0].size()) + 4) * sum / n}};
              },
          .output = at_least_f32};
}

/// Sums of B values, twice: the mean is off by B roundings of the largest |x|, which the deviation divides;
/// the variance by twice that, and B roundings of its own.
inline OpCase batch_norm_case() {
  return {.name = "batch_norm",
          .shapes = {{{3, 5}, {5}, {5}},
                     {{2, 1}, {1}, {1}},
                     {{70, 65}, {65}, {65}},
                     {{300, 3}, {3}, {3}},
                     {{8, 0}, {0}, {0}},
                     {{17, 1100}, {1100}, {1100}}},
          .call = [](std::span<const Tensor> in) { return batch_norm(in[0], in[1], in[2]); },
          .oracle =
              [](std::span<const Input> in) {
                const std::int64_t B = in[0].shape.rows(), O = in[0].shape.cols();
                const auto rows = static_cast<long double>(B);
                std::vector<Exact> y(static_cast<std::size_t>(B * O));
                for (std::int64_t o = 0; o < O; ++o) {
                  long double mean = 0, variance = 0;
                  for (std::int64_t b = 0; b < B; ++b) mean += in[0].at(b, o) / rows;
                  for (std::int64_t b = 0; b < B; ++b)
                    variance += (in[0].at(b, o) - mean) * (in[0].at(b, o) - mean) / rows;
                  const long double inverse = 1 / std::sqrt(variance + static_cast<long double>(1e-5f));
                  const long double off = (rows + 2) * 2 * inverse;  // of xhat, because of the mean
                  for (std::int64_t b = 0; b < B; ++b) {
                    const long double xhat = (in[0].at(b, o) - mean) * inverse;
                    const long double value = in[1][o] * xhat + in[2][o];
                    const long double of_xhat = off + std::fabs(xhat) * (off + rows + 4);
                    y[static_cast<std::size_t>(b * O + o)] = {
                        value, std::fabs(in[1][o]) * of_xhat + std::fabs(in[1][o] * xhat) + std::fabs(value)};
                  }
                }
                return y;
              }};
}

/// Images and what slides over them: (b, h, w, c) by index.
inline std::int64_t at_pixel(const Shape& x, std::int64_t b, std::int64_t h, std::int64_t w, std::int64_t c) {
  return ((b * x[1] + h) * x[2] + w) * x[3] + c;
}

/// One place of a window over images x: the taps that lie inside.
struct Tap {
  std::int64_t x, w;  ///< where its first channel lies, in x and among the taps of the window
};
inline std::vector<Tap> taps_inside(const Shape& x, std::int64_t b, std::int64_t top, std::int64_t left,
                                    std::int64_t height, std::int64_t width) {
  std::vector<Tap> taps;
  for (std::int64_t m = 0; m < height; ++m) {
    for (std::int64_t n = 0; n < width; ++n) {
      const std::int64_t h = top + m, v = left + n;
      if (h < 0 || h >= x[1] || v < 0 || v >= x[2]) continue;
      taps.push_back({at_pixel(x, b, h, v, 0), m * width + n});
    }
  }
  return taps;
}

/// one(b, i, j, o) for every value of an output (B,Ho,Wo,O).
template <class F>
std::vector<Exact> each_place(const Shape& x, std::int64_t height, std::int64_t width, std::int64_t stride,
                              std::int64_t padding, std::int64_t outputs, F one) {
  std::vector<Exact> y;
  for (std::int64_t b = 0; b < x[0]; ++b) {
    for (std::int64_t i = 0; i * stride + height <= x[1] + 2 * padding; ++i) {
      for (std::int64_t j = 0; j * stride + width <= x[2] + 2 * padding; ++j) {
        const std::vector<Tap> taps =
            taps_inside(x, b, i * stride - padding, j * stride - padding, height, width);
        for (std::int64_t o = 0; o < outputs; ++o) y.push_back(one(taps, o));
      }
    }
  }
  return y;
}

inline OpCase conv2d_case(std::string name, Conv2dOptions options, std::vector<std::vector<Shape>> shapes) {
  return {.name = std::move(name),
          .shapes = std::move(shapes),
          .call = [=](std::span<const Tensor> in) { return conv2d(in[0], in[1], options); },
          .oracle =
              [=](std::span<const Input> in) {
                const Shape &x = in[0].shape, &w = in[1].shape;
                const auto terms = static_cast<long double>(w[0] * w[1] * w[2]);
                const auto one = [&](const std::vector<Tap>& taps, std::int64_t o) {
                  long double sum = 0, magnitude = 0;
                  for (const Tap& tap : taps) {
                    for (std::int64_t c = 0; c < x[3]; ++c) {
                      const long double term = in[0][tap.x + c] * in[1][(tap.w * x[3] + c) * w[3] + o];
                      sum += term;
                      magnitude += std::fabs(term);
                    }
                  }
                  return Exact{sum, (terms + 1) * magnitude, magnitude};
                };
                return each_place(x, w[0], w[1], options.stride, options.padding, w[3], one);
              }};
}

/// Besides sizes that occur: images wider than a register tile has rows, more channels than it has columns,
/// odd ones, batches that are no multiple of the group of a weight gradient, taps that a stride never
/// reaches.
inline std::vector<OpCase> conv2d_cases() {
  return {conv2d_case("conv2d", {},
                      {{{2, 5, 6, 1}, {3, 3, 1, 6}},
                       {{1, 1, 1, 1}, {1, 1, 1, 1}},
                       {{3, 2, 4, 3}, {1, 1, 3, 16}},
                       {{9, 5, 6, 6}, {5, 5, 6, 16}},
                       {{2, 3, 29, 2}, {2, 1, 2, 5}},
                       {{0, 4, 4, 2}, {3, 3, 2, 3}}}),
          conv2d_case("conv2d with padding", {.padding = 1},
                      {{{1, 3, 4, 3}, {3, 3, 3, 33}}, {{10, 4, 4, 16}, {3, 3, 16, 16}}}),
          conv2d_case("conv2d with padding 2", {.padding = 2}, {{{2, 6, 6, 1}, {5, 5, 1, 6}}}),
          conv2d_case(
              "conv2d with stride 2", {.stride = 2, .padding = 1},
              {{{2, 6, 6, 5}, {3, 3, 5, 33}}, {{3, 7, 4, 3}, {3, 3, 3, 4}}, {{2, 4, 4, 4}, {1, 1, 4, 8}}}),
          conv2d_case("conv2d with stride 3", {.stride = 3}, {{{2, 9, 8, 2}, {2, 2, 2, 3}}})};
}

inline OpCase max_pool2d_case(std::string name, std::int64_t size, std::int64_t stride,
                              std::vector<std::vector<Shape>> shapes) {
  return {.name = std::move(name),
          .shapes = std::move(shapes),
          .call = [=](std::span<const Tensor> in) { return max_pool2d(in[0], size, stride); },
          .oracle =
              [=](std::span<const Input> in) {
                const auto one = [&](const std::vector<Tap>& taps, std::int64_t c) {
                  long double largest = in[0][taps[0].x + c];
                  for (const Tap& tap : taps) largest = std::max(largest, in[0][tap.x + c]);
                  return Exact{largest};
                };
                return each_place(in[0].shape, size, size, stride, 0, in[0].shape[3], one);
              }};
}

/// size 0: the global one.
inline OpCase avg_pool2d_case(std::string name, std::int64_t size, std::int64_t stride,
                              std::vector<std::vector<Shape>> shapes) {
  return {.name = std::move(name),
          .shapes = std::move(shapes),
          .call =
              [=](std::span<const Tensor> in) {
                return size == 0 ? global_avg_pool2d(in[0]) : avg_pool2d(in[0], size, stride);
              },
          .oracle =
              [=](std::span<const Input> in) {
                const auto one = [&](const std::vector<Tap>& taps, std::int64_t c) {
                  long double sum = 0, magnitude = 0;
                  for (const Tap& tap : taps) {
                    sum += in[0][tap.x + c];
                    magnitude += std::fabs(in[0][tap.x + c]);
                  }
                  const auto n = static_cast<long double>(taps.size());
                  return Exact{sum / n, (n + 1) * magnitude / n, magnitude / n};
                };
                const Shape& x = in[0].shape;
                return each_place(x, size == 0 ? x[1] : size, size == 0 ? x[2] : size, stride, 0, x[3], one);
              }};
}

inline std::vector<OpCase> pool_cases() {
  const std::vector<std::vector<Shape>> shapes{
      {{2, 4, 4, 6}}, {{1, 2, 2, 1}}, {{3, 5, 7, 17}}, {{0, 4, 4, 3}}, {{5, 33, 6, 16}}};
  const std::vector<std::vector<Shape>> larger{{{2, 7, 8, 3}}, {{1, 3, 3, 1}}};
  return {
      max_pool2d_case("max_pool2d", 2, 2, shapes), max_pool2d_case("max_pool2d overlapping", 3, 2, larger),
      avg_pool2d_case("avg_pool2d", 2, 2, shapes), avg_pool2d_case("avg_pool2d overlapping", 3, 2, larger),
      avg_pool2d_case("global_avg_pool2d", 0, 1, shapes)};
}

inline OpCase subsample_case() {
  return {.name = "subsample",
          .shapes = {{{2, 4, 4, 3}}, {{1, 1, 1, 1}}, {{3, 5, 7, 5}}, {{0, 2, 2, 3}}, {{5, 31, 6, 5}}},
          .call = [](std::span<const Tensor> in) { return subsample(in[0], 2, 5); },
          .oracle =
              [](std::span<const Input> in) {
                const auto one = [&](const std::vector<Tap>& taps, std::int64_t c) {
                  return Exact{c < in[0].shape[3] ? in[0][taps[0].x + c] : 0};
                };
                return each_place(in[0].shape, 1, 1, 2, 0, 5, one);
              }};
}

/// The same op on images: all dimensions but the last are rows.
inline OpCase of_images(OpCase op, std::vector<Shape> shapes) {
  op.name += " of images";
  op.shapes = {std::move(shapes)};
  return op;
}

inline std::vector<OpCase> image_cases() {
  std::vector<OpCase> cases = conv2d_cases();
  for (OpCase& op : pool_cases()) cases.push_back(std::move(op));
  cases.push_back(subsample_case());
  cases.push_back(of_images(add_bias_case(), {{2, 3, 4, 5}, {5}}));
  cases.push_back(of_images(batch_norm_case(), {{2, 3, 4, 5}, {5}, {5}}));
  return cases;
}

// Rows: the pieces of a softmax, and the whole.
// --------------------------------------------------------------------------------------------------------

inline OpCase exp_case() {
  return {.name = "exp",
          .shapes = shapes_of_one(),
          .call = [](std::span<const Tensor> in) { return exp(in[0]); },
          .oracle = each_value(2, [](long double x) { return std::exp(x); }),
          .spread = 4};
}

inline OpCase log_case() {
  return {.name = "log",
          .shapes = shapes_of_one(),
          .call = [](std::span<const Tensor> in) { return log(in[0]); },
          .oracle = each_value(2, [](long double x) { return std::log(x); }),
          .spread = 8,
          .distance_from_0 = 0.25,
          .positive = true};
}

inline OpCase subtract_case() {
  OpCase op = add_case();
  op.name = "subtract";
  op.call = [](std::span<const Tensor> in) { return subtract(in[0], in[1]); };
  op.oracle = [](std::span<const Input> in) {
    std::vector<Exact> y;
    for (std::int64_t i = 0; i < in[0].size(); ++i) y.push_back({in[0][i] - in[1][i]});
    return y;
  };
  return op;
}

/// of(b, row) for each row of the first input.
template <class F>
std::vector<Exact> each_row(std::span<const Input> in, F of) {
  std::vector<Exact> y;
  const std::int64_t columns = in[0].shape[1];
  for (std::int64_t b = 0; b < in[0].shape[0]; ++b) {
    std::vector<long double> row;
    for (std::int64_t c = 0; c < columns; ++c) row.push_back(in[0].at(b, c));
    y.push_back(of(b, row));
  }
  return y;
}

inline const std::vector<std::vector<Shape>>& shapes_of_rows() {
  static const std::vector<std::vector<Shape>> shapes{{{3, 5}}, {{1, 1}},    {{130, 10}},
                                                      {{0, 4}}, {{2, 1100}}, {{33, 65}}};
  return shapes;
}

inline OpCase row_max_case() {
  return {.name = "row_max",
          .shapes = shapes_of_rows(),
          .call = [](std::span<const Tensor> in) { return row_max(in[0]); },
          .oracle =
              [](std::span<const Input> in) {
                return each_row(in, [](std::int64_t, const std::vector<long double>& row) {
                  return Exact{*std::max_element(row.begin(), row.end())};
                });
              }};
}

/// Each addition is rounded: in FP16 2^13 times as coarsely as in FP32.
inline OpCase row_sum_case(std::string name, Accumulation sums) {
  return {
      .name = std::move(name),
      .shapes = {{{3, 5}}, {{1, 1}}, {{130, 10}}, {{0, 4}}, {{3, 0}}, {{2, 1100}}, {{2, 9001}}},
      .call = [=](std::span<const Tensor> in) { return row_sum(in[0], sums); },
      .oracle =
          [=](std::span<const Input> in) {
            return each_row(in, [&](std::int64_t, const std::vector<long double>& row) {
              long double sum = 0, magnitude = 0;
              for (const long double v : row) {
                sum += v;
                magnitude += std::fabs(v);
              }
              const long double coarser = sums.format == DType::f16 ? 0x1p13L : 1;
              return Exact{sum, static_cast<long double>(row.size() + 1) * coarser * magnitude, magnitude};
            });
          }};
}

/// f(x, value of the row), rounded once.
template <class F>
OpCase with_rows_case(std::string name, Tensor (*op)(const Tensor&, const Tensor&), long double slack, F f) {
  return {
      .name = std::move(name),
      .shapes =
          {{{3, 5}, {3}}, {{1, 1}, {1}}, {{130, 10}, {130}}, {{0, 4}, {0}}, {{3, 0}, {3}}, {{2, 1100}, {2}}},
      .call = [=](std::span<const Tensor> in) { return op(in[0], in[1]); },
      .oracle =
          [=](std::span<const Input> in) {
            std::vector<Exact> y;
            for (std::int64_t i = 0; i < in[0].size(); ++i) {
              const long double value = f(in[0][i], in[1][i / in[0].shape[1]]);
              y.push_back({value, slack * std::fabs(value)});
            }
            return y;
          },
      .distance_from_0 = 0.5};
}

inline OpCase pick_case() {
  return {.name = "pick",
          .shapes = {{{3, 5}}, {{1, 1}}, {{130, 10}}, {{2, 1100}}},
          .call = [](std::span<const Tensor> in) { return pick(in[0], labels_for(in[0].shape())); },
          .oracle =
              [](std::span<const Input> in) {
                const std::vector<std::int32_t> labels = labels_for(in[0].shape);
                return each_row(in, [&](std::int64_t b, const std::vector<long double>& row) {
                  return Exact{row[static_cast<std::size_t>(labels[static_cast<std::size_t>(b)])]};
                });
              }};
}

/// exp sees x - top, off by a rounding of up to 12, which makes 12 roundings of what comes out; C terms are
/// summed.
inline OpCase softmax_case(bool logarithm) {
  return {.name = logarithm ? "log_softmax" : "softmax",
          .shapes = shapes_of_rows(),
          .call = [=](std::span<const Tensor> in) { return logarithm ? log_softmax(in[0]) : softmax(in[0]); },
          .oracle =
              [=](std::span<const Input> in) {
                std::vector<Exact> y;
                for (std::int64_t b = 0; b < in[0].shape[0]; ++b) {
                  const std::int64_t C = in[0].shape[1];
                  long double sum = 0;
                  for (std::int64_t c = 0; c < C; ++c) sum += std::exp(in[0].at(b, c));
                  const long double off = 12 + static_cast<long double>(C) + 4;
                  for (std::int64_t c = 0; c < C; ++c) {
                    const long double log_share = in[0].at(b, c) - std::log(sum);
                    const long double share = std::exp(log_share);
                    y.push_back(logarithm ? Exact{log_share, off + 2 * std::fabs(log_share),
                                                  std::max(1.0L, std::fabs(log_share))}
                                          : Exact{share, (off + 12) * share});
                  }
                }
                return y;
              },
          .spread = 6};
}

/// As for batch_norm, with a row where that has a column.
inline OpCase layer_norm_case() {
  return {.name = "layer_norm",
          .shapes = {{{3, 5}, {5}, {5}},
                     {{1, 7}, {7}, {7}},
                     {{4, 1}, {1}, {1}},
                     {{130, 10}, {10}, {10}},
                     {{0, 4}, {4}, {4}},
                     {{2, 1100}, {1100}, {1100}},
                     {{33, 65}, {65}, {65}}},
          .call = [](std::span<const Tensor> in) { return layer_norm(in[0], in[1], in[2]); },
          .oracle =
              [](std::span<const Input> in) {
                const std::int64_t O = in[0].shape.cols();
                const auto n = static_cast<long double>(O);
                std::vector<Exact> y;
                for (std::int64_t b = 0; b < in[0].shape.rows(); ++b) {
                  long double mean = 0, variance = 0;
                  for (std::int64_t o = 0; o < O; ++o) mean += in[0].at(b, o) / n;
                  for (std::int64_t o = 0; o < O; ++o)
                    variance += (in[0].at(b, o) - mean) * (in[0].at(b, o) - mean) / n;
                  const long double inverse = 1 / std::sqrt(variance + static_cast<long double>(1e-5f));
                  const long double off = (n + 2) * 2 * inverse;  // of xhat, because of the mean
                  for (std::int64_t o = 0; o < O; ++o) {
                    const long double xhat = (in[0].at(b, o) - mean) * inverse;
                    const long double value = in[1][o] * xhat + in[2][o];
                    const long double of_xhat = off + std::fabs(xhat) * (off + n + 4);
                    y.push_back({value, std::fabs(in[1][o]) * of_xhat + std::fabs(in[1][o] * xhat) +
                                            std::fabs(value)});
                  }
                }
                return y;
              }};
}

/// The step of a mask, where x lies.
inline Tensor step_of_mask(double step, Device device) {
  return Tensor::from(Shape{}, std::vector<double>{step}).to(device);
}

inline OpCase dropout_case() {
  return {.name = "dropout",
          .shapes = shapes_of_one(),
          .call =
              [](std::span<const Tensor> in) {
                return dropout(in[0], 0.25f, 11, step_of_mask(3, in[0].device()));
              },
          .oracle =
              [](std::span<const Input> in) {
                Rng stream(Rng(11).split(3));  // one draw for each value, in order
                std::vector<Exact> y;
                for (std::int64_t i = 0; i < in[0].size(); ++i) {
                  const bool kept = stream.uniform(0, 1) >= 0.25f;
                  const long double value = kept ? in[0][i] / 0.75L : 0;
                  y.push_back({value, 2 * std::fabs(value)});
                }
                return y;
              }};
}

inline std::vector<OpCase> row_cases() {
  return {
      exp_case(),
      log_case(),
      subtract_case(),
      row_max_case(),
      row_sum_case("row_sum", {}),
      row_sum_case("row_sum in f16", {.format = DType::f16}),
      row_sum_case("row_sum in chunks of f16", {.format = DType::f16, .chunk = 64}),
      with_rows_case("subtract_rows", subtract_rows, 0, [](long double x, long double by) { return x - by; }),
      with_rows_case("divide_rows", divide_rows, 1, [](long double x, long double by) { return x / by; }),
      pick_case(),
      softmax_case(false),
      softmax_case(true),
      layer_norm_case(),
      of_images(layer_norm_case(), {{2, 3, 4, 5}, {5}, {5}}),
      dropout_case()};
}

inline OpCase multiply_case() {
  OpCase op = add_case();
  op.name = "multiply";
  op.call = [](std::span<const Tensor> in) { return multiply(in[0], in[1]); };
  op.oracle = [](std::span<const Input> in) {
    std::vector<Exact> y;
    for (std::int64_t i = 0; i < in[0].size(); ++i) y.push_back({in[0][i] * in[1][i]});
    return y;
  };
  return op;
}

/// Most tokens occur more than once, the last one never.
inline std::vector<std::int32_t> tokens_for(const Shape& table) {
  std::vector<std::int32_t> tokens;
  const std::int64_t words = std::max<std::int64_t>(1, table[0] - 1);
  for (std::int64_t n = 0; n < 3 * table[0]; ++n)
    tokens.push_back(static_cast<std::int32_t>(n * n * 7 % words));
  return tokens;
}

inline OpCase embedding_case() {
  return {.name = "embedding",
          .shapes = {{{5, 4}}, {{1, 1}}, {{2, 0}}, {{0, 3}}, {{300, 3}}, {{7, 1100}}},
          .call = [](std::span<const Tensor> in) { return embedding(in[0], tokens_for(in[0].shape())); },
          .oracle =
              [](std::span<const Input> in) {
                std::vector<Exact> y;
                for (const std::int32_t token : tokens_for(in[0].shape))
                  for (std::int64_t d = 0; d < in[0].shape[1]; ++d) y.push_back({in[0].at(token, d)});
                return y;
              }};
}

inline OpCase columns_case(std::string name, std::int64_t from, std::int64_t count,
                           std::vector<std::vector<Shape>> shapes) {
  return {.name = std::move(name),
          .shapes = std::move(shapes),
          .call = [=](std::span<const Tensor> in) { return columns(in[0], from, count); },
          .oracle =
              [=](std::span<const Input> in) {
                std::vector<Exact> y;
                for (std::int64_t b = 0; b < in[0].shape[0]; ++b)
                  for (std::int64_t c = from; c < from + count; ++c) y.push_back({in[0].at(b, c)});
                return y;
              }};
}

inline OpCase concat_columns_case() {
  return {.name = "concat_columns",
          .shapes =
              {{{3, 2}}, {{3, 2}, {3, 5}, {3, 1}}, {{1, 0}, {1, 2}}, {{0, 2}, {0, 1}}, {{70, 65}, {70, 700}}},
          .call =
              [](std::span<const Tensor> in) {
                return concat_columns({in.begin(), in.end()});
              },
          .oracle =
              [](std::span<const Input> in) {
                std::vector<Exact> y;
                for (std::int64_t b = 0; b < in[0].shape[0]; ++b)
                  for (const Input& part : in)
                    for (std::int64_t c = 0; c < part.shape[1]; ++c) y.push_back({part.at(b, c)});
                return y;
              }};
}

inline std::vector<OpCase> text_cases() {
  return {multiply_case(), embedding_case(),
          columns_case("columns", 1, 3, {{{3, 5}}, {{1, 4}}, {{0, 4}}, {{70, 1100}}}),
          columns_case("columns, all of them", 0, 5, {{{3, 5}}}), concat_columns_case()};
}

inline OpCase gelu_case() {
  return {
      .name = "gelu",
      .shapes = shapes_of_one(),
      .call = [](std::span<const Tensor> in) { return gelu(in[0]); },
      .oracle = each_value(
          9, [](long double x) { return x * std::erfc(-x * 0.707106781186547524400844362104849039L) / 2; }),
      .spread = 6};
}

inline OpCase matmul_transposed_case() {
  OpCase op = matmul_case();
  op.name = "matmul_transposed";
  for (std::vector<Shape>& shapes : op.shapes) shapes[1] = {shapes[1][1], shapes[1][0]};
  op.call = [](std::span<const Tensor> in) { return matmul_transposed(in[0], in[1]); };
  op.oracle = [straight = matmul_case().oracle](std::span<const Input> in) {
    const std::int64_t O = in[1].shape[0], I = in[1].shape[1];
    Input w{{I, O}, std::vector<double>(in[1].values.size())};
    for (std::int64_t i = 0; i < I * O; ++i)
      w.values[static_cast<std::size_t>(i % I * O + i / I)] = in[1].values[static_cast<std::size_t>(i)];
    return straight(std::vector<Input>{in[0], w});
  };
  return op;
}

inline OpCase add_positions_case() {
  return {.name = "add_positions",
          .shapes = {{{2, 3, 4}, {3, 4}},
                     {{1, 1, 1}, {1, 1}},
                     {{3, 2, 5}, {7, 5}},
                     {{0, 2, 3}, {2, 3}},
                     {{5, 17, 65}, {20, 65}}},
          .call = [](std::span<const Tensor> in) { return add_positions(in[0], in[1]); },
          .oracle =
              [](std::span<const Input> in) {
                std::vector<Exact> y;
                const std::int64_t T = in[0].shape[1], W = in[0].shape[2];
                for (std::int64_t i = 0; i < in[0].size(); ++i) y.push_back({in[0][i] + in[1][i % (T * W)]});
                return y;
              }};
}

/// What attention is asked for in an entry. Of padding: text b has b (S + 1) / 2 mod (S + 1) tokens, the first none.
struct Attended {
  std::int64_t heads = 1;
  bool causal = false, padded = false;
  float dropout = 0;

  std::int64_t length(std::int64_t b, std::int64_t S) const {
    return padded ? b * ((S + 1) / 2) % (S + 1) : S;
  }
};

/// One row of attention by its definition. q:(D) from q0 on; `seen` keys and values, W apart, from k0 on.
inline std::vector<Exact> attention_row(std::span<const Input> in, std::int64_t q0, std::int64_t k0,
                                        std::int64_t D, std::int64_t seen,
                                        const std::function<long double(std::int64_t)>& kept) {
  const std::int64_t W = in[0].shape[2], S = in[1].shape[1];
  const long double scale = 1 / std::sqrt(static_cast<long double>(D));
  std::vector<long double> p;
  long double sum = 0, off = 0, largest = 0;
  for (std::int64_t s = 0; s < seen; ++s) {
    long double score = 0, magnitude = 0;
    for (std::int64_t d = 0; d < D; ++d) {
      score += in[0][q0 + d] * in[1][k0 + s * W + d];
      magnitude += std::fabs(in[0][q0 + d] * in[1][k0 + s * W + d]);
    }
    p.push_back(std::exp(score * scale));
    sum += p.back();
    off = std::max(off, 2 * scale * static_cast<long double>(D + 2) * magnitude);
    largest = std::max(largest, std::fabs(score * scale));
  }
  const long double relative = off + 4 * largest + 2 * static_cast<long double>(S) + 16;
  std::vector<Exact> y(static_cast<std::size_t>(D));
  for (std::int64_t s = 0; s < seen; ++s) {
    const long double share = p[static_cast<std::size_t>(s)] / sum, factor = kept(s);
    for (std::int64_t d = 0; d < D; ++d) {
      Exact& value = y[static_cast<std::size_t>(d)];
      const long double v = in[2][k0 + s * W + d];
      value.value += factor * share * v;
      value.slack += relative * std::fabs(factor * share * v);
      value.stored += 2 * factor * (share + 0x1p-13L) *
                      std::fabs(v);  // of p, in FP16 subnormal from there; and of what dropout makes of it
      value.terms += std::fabs(factor * share * v);
    }
  }
  return y;
}

inline OpCase attention_case(const std::string& name, const Attended& how,
                             std::vector<std::vector<Shape>> shapes) {
  OpCase op{.name = name, .shapes = std::move(shapes), .call = {}, .oracle = {}, .spread = 1};
  op.call = [how](std::span<const Tensor> in) {
    const std::int64_t B = in[1].shape()[0], S = in[1].shape()[1];
    AttentionOptions options{.heads = how.heads, .causal = how.causal, .dropout = how.dropout, .seed = 11};
    std::vector<std::int32_t> lengths;
    for (std::int64_t b = 0; b < B; ++b) lengths.push_back(static_cast<std::int32_t>(how.length(b, S)));
    if (how.padded) options.lengths = Indices(lengths, in[0].device());
    if (how.dropout > 0) options.step = step_of_mask(3, in[0].device());
    return attention(in[0], in[1], in[2], options);
  };
  op.oracle = [how](std::span<const Input> in) {
    const std::int64_t B = in[0].shape[0], T = in[0].shape[1], W = in[0].shape[2], S = in[1].shape[1];
    const std::int64_t D = W / how.heads;
    std::vector<Exact> y(static_cast<std::size_t>(in[0].size()));
    const Rng stream = Rng(11).split(3);
    for (std::int64_t i = 0; i < B * how.heads * T; ++i) {
      const std::int64_t t = i % T, h = i / T % how.heads, b = i / T / how.heads;
      const std::int64_t seen = std::min(how.causal ? t + 1 : S, how.length(b, S));
      const auto kept = [&](std::int64_t s) {
        if (how.dropout == 0) return 1.0L;
        const bool stays =
            Rng(stream.seed(), static_cast<std::uint64_t>(i * S + s)).uniform(0, 1) >= how.dropout;
        return stays ? 1 / (1 - static_cast<long double>(how.dropout)) : 0.0L;
      };
      const std::int64_t q0 = (b * T + t) * W + h * D;
      const std::vector<Exact> row = attention_row(in, q0, b * S * W + h * D, D, seen, kept);
      std::copy(row.begin(), row.end(), y.begin() + q0);
    }
    return y;
  };
  return op;
}

inline std::vector<OpCase> attention_cases() {
  const auto of_itself = [](std::initializer_list<Shape> all) {
    std::vector<std::vector<Shape>> shapes;
    for (const Shape& s : all) shapes.push_back({s, s, s});
    return shapes;
  };
  return {
      attention_case("attention", {}, of_itself({{2, 3, 4}, {1, 1, 1}, {0, 3, 4}, {1, 35, 7}})),
      attention_case("attention of two heads", {.heads = 2},
                     of_itself({{2, 5, 4}, {1, 70, 16}, {3, 4, 6}, {1, 1100, 2}})),
      attention_case("attention causal", {.heads = 2, .causal = true}, of_itself({{2, 5, 4}, {1, 40, 16}})),
      attention_case("attention padded", {.heads = 2, .padded = true}, of_itself({{3, 5, 4}, {2, 18, 8}})),
      attention_case("attention causal and padded", {.heads = 2, .causal = true, .padded = true},
                     of_itself({{3, 6, 8}})),
      attention_case("attention to other keys", {.heads = 2, .padded = true},
                     {{{3, 4, 4}, {3, 7, 4}, {3, 7, 4}}, {{2, 9, 16}, {2, 2, 16}, {2, 2, 16}}}),
      attention_case("attention with dropout", {.heads = 2, .causal = true, .dropout = 0.25f},
                     of_itself({{2, 6, 4}}))};
}

inline std::vector<OpCase> transformer_cases() {
  std::vector<OpCase> all{gelu_case(), matmul_transposed_case(), add_positions_case()};
  for (OpCase& op : attention_cases()) all.push_back(std::move(op));
  return all;
}

inline const std::vector<OpCase>& op_cases() {
  static const std::vector<OpCase> cases = [] {
    std::vector<OpCase> all{matmul_case(),
                            add_bias_case(),
                            add_case(),
                            scale_case(),
                            relu_case(),
                            sigmoid_case(),
                            tanh_case(),
                            cast_case(DType::f16),
                            cast_case(DType::f32),
                            cast_case(DType::f64),
                            cast_case(DType::bf16),
                            reshape_case(),
                            sum_case(false),
                            sum_case(true),
                            cross_entropy_case(),
                            mse_case(),
                            scale_by_tensor_case(),
                            batch_norm_case()};
    for (OpCase& op : image_cases()) all.push_back(std::move(op));
    all.push_back(linear_case({}));
    all.push_back(linear_case(Activation::sigmoid));
    for (OpCase& op : row_cases()) all.push_back(std::move(op));
    for (OpCase& op : text_cases()) all.push_back(std::move(op));
    for (OpCase& op : transformer_cases()) all.push_back(std::move(op));
    return all;
  }();
  return cases;
}

// Random cases: 2000 of each op, of random shapes.
// --------------------------------------------------------------------------------------------------------

struct RandomCases {
  std::string name;
  std::string dims;   ///< "MK KN": the shapes, where one letter is one random size; empty: those of the entry
  double margin = 0;  ///< see the table
};

/// The table: how far a value may be off, in units of the precision (2^-24 for FP32, 2^-53 for f64), of the
/// largest exact value of its call; of a sum: of the magnitudes of its terms; of cross_entropy: of 1 at
/// least. Then it is rounded to its format. No margin: the exact value, rounded once. Twice what 2000 cases
/// have shown.
inline const std::vector<RandomCases>& random_cases() {
  static const std::vector<RandomCases> table{
      {"matmul", "MK KN", 7},
      {"add_bias", "BO O"},
      {"linear", "", 0},
      {"linear with sigmoid", "", 1},
      {"add", "AB AB"},
      {"subtract", "AB AB"},
      {"multiply", "AB AB"},
      {"scale", "AB"},
      {"scale by a tensor", "AB"},
      {"relu", "AB"},
      {"sigmoid", "AB", 1},
      {"tanh", "AB", 1},
      {"exp", "AB", 1},
      {"log", "AB", 1},
      {"cast to f16", "AB"},
      {"cast to f32", "AB"},
      {"cast to f64", "AB"},
      {"cast to bf16", "AB"},
      {"reshape", ""},
      {"sum", "AB", 1},
      {"mean", "AB", 1},
      {"cross_entropy", "BC", 4},
      {"mse", "AB", 4},
      {"batch_norm", "BO O O", 23},
      {"batch_norm of images", "BHWO O O", 17},
      {"add_bias of images", "BHWO O"},
      {"conv2d", "BHWI hwIO", 6},
      {"conv2d with padding", "BHWI hwIO", 6},
      {"conv2d with padding 2", "BHWI hwIO", 6},
      {"conv2d with stride 2", "BHWI hwIO", 6},
      {"conv2d with stride 3", "BHWI hwIO", 6},
      {"max_pool2d", "BHWC"},
      {"max_pool2d overlapping", "BHWC"},
      {"avg_pool2d", "BHWC", 1},
      {"avg_pool2d overlapping", "BHWC", 1},
      {"global_avg_pool2d", "BHWC", 4},
      {"subsample", ""},
      {"row_max", "BC"},
      {"row_sum", "BC", 1},
      {"row_sum in f16", "BC", 44200},
      {"row_sum in chunks of f16", "BC", 44200},
      {"subtract_rows", "BC B"},
      {"divide_rows", "BC B", 1},
      {"pick", "BC"},
      {"softmax", "BC", 6},
      {"log_softmax", "BC", 7},
      {"layer_norm", "BO O O", 22},
      {"layer_norm of images", "BHWO O O", 102},
      {"dropout", "AB", 1},
      {"embedding", "VD"},
      {"columns", ""},
      {"columns, all of them", ""},
      {"concat_columns", "BO BP BQ"},
      {"gelu", "AB", 3},
      {"matmul_transposed", "MK NK", 7},
      {"add_positions", ""},
      {"attention", "", 88000},
      {"attention of two heads", "", 96000},
      {"attention causal", "", 116000},
      {"attention padded", "", 92000},
      {"attention causal and padded", "", 114000},
      {"attention to other keys", "", 107000},
      {"attention with dropout", "", 167000},
  };
  return table;
}

}  // namespace tinymp::test
