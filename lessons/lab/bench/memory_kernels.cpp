#include <kernels/kernels.h>
#include <lessons/lab/bench/memory_kernels.h>
#include <tinymp/ops/ops.h>
#include <tinymp/tensor/device_value.h>
#include <tinymp/tensor/indices.h>

namespace tinymp::lab::gpu_check {
namespace {

Tensor filled(const Shape& shape, DType dtype, double value = 0.5) {
  Tensor x(shape, dtype, Device::cuda);
  kernels::fill(x.view(), value);
  return x;
}

/// n values in each of three formats, and the kernels that run on them.
struct Arrays {
  explicit Arrays(std::int64_t n)
      : f32(make(n, DType::f32)),
        g32(make(n, DType::f32)),
        h32(make(n, DType::f32)),
        f16(make(n, DType::f16)),
        g16(make(n, DType::f16)),
        h16(make(n, DType::f16)) {}
  static Tensor make(std::int64_t n, DType dtype) { return filled({n / 1024, 1024}, dtype); }
  Tensor f32, g32, h32, f16, g16, h16;
};

/// n values of FP16 in rows of 1024, what belongs to rows and columns, and room for results.
struct RowsOfHalves {
  static constexpr std::int64_t width = 1024;
  explicit RowsOfHalves(std::int64_t n)
      : rows(n / width),
        x(filled({rows, width}, DType::f16)),
        y(filled({rows, width}, DType::f16, 1.0 / width)),
        z(filled({rows, width}, DType::f16)),
        gamma(filled({width}, DType::f16, 1)),
        beta(filled({width}, DType::f16, 0)) {}
  std::int64_t rows;
  Tensor x, y, z, gamma, beta;
};

/// The statistics that belong to one norm, kept alive by the calls that use them.
struct Statistics {
  explicit Statistics(std::int64_t count)
      : mean(filled({count}, DType::f32)), variance(filled({count}, DType::f32, 1)) {}
  kernels::Normalizer by() const { return {mean.view(), variance.view(), 1e-5}; }
  Tensor mean, variance;
};

void add_norms(std::vector<MovingKernel>& list, const RowsOfHalves& t, double n) {
  const Statistics rows(t.rows), columns(RowsOfHalves::width);
  const Tensor dgamma = filled({RowsOfHalves::width}, DType::f32),
               dbeta = filled({RowsOfHalves::width}, DType::f32);
  const Accumulation sums{};
  list.push_back({"layer norm, moments f16", 2 * n,
                  [=] { kernels::row_moments(t.x.view(), sums, rows.mean.view(), rows.variance.view()); }});
  list.push_back({"layer norm f16", 4 * n, [=] {
                    kernels::layer_norm(t.x.view(), rows.by(), t.gamma.view(), t.beta.view(), t.z.view());
                  }});
  list.push_back({"layer norm, dgamma and dbeta f16", 4 * n, [=] {
                    kernels::layer_norm_sums(t.x.view(), rows.by(), t.y.view(), sums, dgamma.view(),
                                             dbeta.view());
                  }});
  list.push_back(
      {"layer norm, dx f16", 6 * n,
       [=] { kernels::layer_norm_dx(t.x.view(), rows.by(), t.gamma.view(), t.y.view(), sums, t.z.view()); }});
  list.push_back({"batch norm, moments f16", 2 * n, [=] {
                    kernels::column_moments(t.x.view(), sums, columns.mean.view(), columns.variance.view());
                  }});
  list.push_back({"batch norm f16", 4 * n, [=] {
                    kernels::batch_norm(t.x.view(), columns.by(), t.gamma.view(), t.beta.view(), t.z.view());
                  }});
  list.push_back({"batch norm, dgamma and dbeta f16", 4 * n, [=] {
                    kernels::batch_norm_sums(t.x.view(), columns.by(), t.y.view(), sums, dgamma.view(),
                                             dbeta.view());
                  }});
  list.push_back({"batch norm, dx f16", 6 * n, [=] {
                    kernels::batch_norm_dx(t.x.view(), columns.by(), t.gamma.view(), t.y.view(),
                                           dgamma.view(), dbeta.view(), t.z.view());
                  }});
}

/// Pools of 2 x 2 pixels on images of 32 x 32.
void add_pools(std::vector<MovingKernel>& list, double n) {
  constexpr std::int64_t side = 32, channels = 4;
  const std::int64_t images = static_cast<std::int64_t>(n) / (side * side * channels);
  const Tensor x = filled({images, side, side, channels}, DType::f16), dx = filled(x.shape(), DType::f16),
               y = filled({images, side / 2, side / 2, channels}, DType::f16);
  const kernels::Window window{.height = 2, .width = 2, .stride = 2};
  list.push_back({"max pool f16", 2.5 * n, [=] { kernels::max_pool2d(x.view(), window, y.view()); }});
  list.push_back({"max pool, dx f16", 4.5 * n,
                  [=] { kernels::max_pool2d_backward(x.view(), y.view(), window, dx.view()); }});
}

/// The softmax of attention, without a mask, so that every value is read: 32 tokens a text see 128.
void add_attention(std::vector<MovingKernel>& list, double n) {
  constexpr std::int64_t steps = 32, seen = 128;
  const std::int64_t texts = static_cast<std::int64_t>(n) / (steps * seen);
  const Shape shape{texts, 1, steps, seen};
  const Tensor scores = filled(shape, DType::f32), p = filled(shape, DType::f16, 1.0 / seen),
               errors = filled(shape, DType::f16);
  const kernels::AttentionMask mask{.steps = steps, .rows_of_text = steps};
  const double scale = 0.125;
  list.push_back({"attention, softmax f32 to f16", 6 * n,
                  [=] { kernels::attention_softmax(scores.view(), mask, scale, p.view()); }});
  list.push_back({"attention, softmax's errors f16", 8 * n, [=] {
                    kernels::attention_softmax_backward(p.view(), scores.view(), mask, scale, errors.view());
                  }});
}

/// Labels, or tokens, from 0 to classes - 1.
Indices labels(std::int64_t count, std::int64_t classes) {
  std::vector<std::int32_t> values;
  for (std::int64_t i = 0; i < count; ++i) values.push_back(static_cast<std::int32_t>(7 * i % classes));
  return {values, Device::cuda};
}

void add_by_index(std::vector<MovingKernel>& list, const RowsOfHalves& t, double n) {
  constexpr std::int64_t words = 512;
  const Tensor table = filled({words, RowsOfHalves::width}, DType::f16);
  const Indices tokens = labels(t.rows, words), classes = labels(t.rows, RowsOfHalves::width);
  const Tensor top = filled({t.rows}, DType::f32), log_sum = filled({t.rows}, DType::f32),
               loss = filled({}, DType::f32), dloss = filled({}, DType::f32, 1);
  const double of_table = 2.0 * words * RowsOfHalves::width;
  list.push_back(
      {"embedding f16", 4 * n, [=] { kernels::embedding(table.view(), tokens.view(), t.z.view()); }});
  list.push_back({"embedding, dtable f16", 2 * n + of_table,
                  [=] { kernels::embedding_backward(t.y.view(), tokens.view(), table.view()); }});
  list.push_back({"cross-entropy and gradient f16", 4 * n, [=] {
                    kernels::cross_entropy_and_gradient(t.x.view(), classes.view(), top.view(),
                                                        log_sum.view(), loss.view(), dloss.view(),
                                                        t.z.view());
                  }});
}

}  // namespace

std::vector<MovingKernel> elementwise_kernels(std::int64_t values) {
  const Arrays x(values);
  const auto n = static_cast<double>(values);
  const Tensor scalar(Shape{}, DType::f32, Device::cuda), row({1024}, DType::f16, Device::cuda);
  kernels::fill(row.view(), 0.25);
  const DeviceValue<ScaleState> scale(Device::cuda, {});
  const DeviceValue<kernels::GradientCounts> found(Device::cuda, {});
  const DeviceValue<float> factor(Device::cuda, 1);
  const DeviceValue<kernels::StepState> state(Device::cuda, {.steps = 1, .lr = 1e-3f});
  const DeviceValue<kernels::StepOutcome> report(Device::cuda);
  const DeviceValue<kernels::PassCounts> counts(Device::cuda, kernels::PassCounts());
  const kernels::UpdateRule adam = kernels::adam_rule<false>(0.9, 0.999, 1e-8f, 0);
  const kernels::UpdateArenas arenas{x.f16.view(), x.f32.view(), x.g16.view(), {x.g32.view(), x.h32.view()}};
  using kernels::Unary;
  return {
      {"cast f32 to f16", 6 * n, [=] { kernels::cast(x.f32.view(), x.f16.view()); }},
      {"cast f16 to f32", 6 * n, [=] { kernels::cast(x.f16.view(), x.f32.view()); }},
      {"add f32", 12 * n, [=] { kernels::add(x.f32.view(), x.g32.view(), x.h32.view()); }},
      {"add f16", 6 * n, [=] { kernels::add(x.f16.view(), x.g16.view(), x.h16.view()); }},
      {"relu f16", 4 * n, [=] { kernels::unary(Unary::relu, x.f16.view(), x.g16.view()); }},
      {"sigmoid f16", 4 * n, [=] { kernels::unary(Unary::sigmoid, x.f16.view(), x.g16.view()); }},
      {"bias f16", 4 * n, [=] { kernels::add_bias(x.f16.view(), row.view(), x.g16.view()); }},
      {"column sums f16", 2 * n, [=] { kernels::column_sums(x.f16.view(), row.view()); }},
      {"sum f32", 4 * n, [=] { kernels::sum(x.f32.view(), 1, scalar.view()); }},
      {"unscale and check f16", 2 * n,
       [=] { kernels::unscale(x.g16.view(), scale.cell(), found.cell(), factor.cell()); }},
      {"Adam, f32 master of f16", 28 * n,  // reads g, master, two moments; writes weight, master, moments
       [=] {
         kernels::take_step(adam, arenas, factor.cell(), found.cell(), false, state.cell(), report.cell(),
                            counts.cell());
       }},
  };
}

std::vector<MovingKernel> row_kernels(std::int64_t values) {
  const RowsOfHalves t(values);
  const auto n = static_cast<double>(values);
  const Tensor e4m3({t.rows, RowsOfHalves::width}, DType::e4m3, Device::cuda),
      e5m2({t.rows, RowsOfHalves::width}, DType::e5m2, Device::cuda), step = filled({}, DType::f64, 1);
  const DeviceValue<float> scale(Device::cuda, 2), largest(Device::cuda, 0);
  constexpr Quantization stochastic{.rounding = Rounding::stochastic};
  std::vector<MovingKernel> list{
      {"softmax f16", 4 * n, [=] { kernels::softmax(t.x.view(), t.z.view()); }},
      {"softmax, dx f16", 6 * n, [=] { kernels::softmax_backward(t.y.view(), t.x.view(), t.z.view()); }},
      {"dropout f16", 4 * n, [=] { kernels::dropout(t.x.view(), 0.1f, 1, step.view(), t.z.view()); }},
      {"amax f16", 2 * n, [=] { kernels::amax(t.x.view(), largest.cell()); }},
      {"quantize f16 to e4m3", 3 * n,
       [=] { kernels::quantize(t.x.view(), {}, scale.cell(), {}, e4m3.view()); }},
      {"quantize f16 to e5m2, stochastic", 3 * n,
       [=] { kernels::quantize(t.x.view(), stochastic, scale.cell(), step.view(), e5m2.view()); }},
  };
  add_norms(list, t, n);
  add_pools(list, n);
  add_attention(list, n);
  add_by_index(list, t, n);
  return list;
}

}  // namespace tinymp::lab::gpu_check
