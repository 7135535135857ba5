#include <benchmark/benchmark.h>
#include <kernels/kernels.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/tensor/device_value.h>
#include <tinymp/tensor/tensor.h>
#include <string>

// ./learn bench micro: times each kernel on this CPU. A new kernel needs a function and a line in add_all().
namespace tinymp::kernels {
namespace {

using benchmark::State;

constexpr std::int64_t rows = 1024, cols = 784;  ///< shape of element-wise kernels: the autoencoder's output

/// Values from -1 to 1.
Tensor filled(Shape shape, DType dtype) {
  Tensor values(shape), x(shape, dtype);
  for (std::int64_t i = 0; i < values.size(); ++i)
    values.data<float>()[i] = static_cast<float>(i * 7919 % 2001 - 1000) / 1000;
  cast(values.view(), x.view());
  return x;
}

void count(State& state, std::initializer_list<Tensor> touched) {
  std::size_t bytes = 0;
  for (const Tensor& tensor : touched)
    bytes += static_cast<std::size_t>(tensor.size()) * size_of(tensor.dtype());
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes));
}

void run_cast(State& state, DType from, DType to) {
  const Tensor x = filled({rows, cols}, from), y({rows, cols}, to);
  for (auto _ : state) cast(x.view(), y.view());
  count(state, {x, y});
}

void run_unary(State& state, Unary f, DType dtype) {
  const Tensor x = filled({rows, cols}, dtype), y(x.shape(), dtype);
  for (auto _ : state) unary(f, x.view(), y.view());
  count(state, {x, y});
}

void run_unary_backward(State& state, Unary f, DType dtype) {
  const Tensor y = filled({rows, cols}, dtype), dy = filled({rows, cols}, dtype), dx(y.shape(), dtype);
  for (auto _ : state) unary_backward(f, y.view(), dy.view(), dx.view());
  count(state, {y, dy, dx});
}

void run_add_bias(State& state, DType dtype) {
  const Tensor x = filled({rows, cols}, dtype), bias = filled({cols}, dtype), y(x.shape(), dtype);
  for (auto _ : state) add_bias(x.view(), bias.view(), y.view());
  count(state, {x, bias, y});
}

void run_column_sums(State& state, DType dtype) {
  const Tensor x = filled({rows, cols}, dtype), y({cols}, dtype);
  for (auto _ : state) column_sums(x.view(), y.view());
  count(state, {x, y});
}

void run_cross_entropy(State& state, DType dtype) {
  const Tensor logits = filled({rows, 10}, dtype), row_top({rows}), row_log_sum({rows}), loss(Shape{}),
               dloss = filled({}, DType::f32), dlogits(logits.shape(), dtype);
  const std::vector<std::int32_t> labels(rows, 3);
  for (auto _ : state) {
    cross_entropy(logits.view(), labels, row_top.view(), row_log_sum.view(), loss.view());
    cross_entropy_backward(logits.view(), labels, row_top.view(), row_log_sum.view(), dloss.view(),
                           dlogits.view());
  }
  count(state, {logits, dlogits});
}

/// Times an update: weights in `dtype`, with an FP32 master beside them unless they are FP32.
void run_update(State& state, const UpdateRule& rule, int moments, DType dtype) {
  constexpr std::int64_t n = 1'000'000;
  const Tensor weights = filled({n}, dtype), master = dtype == DType::f32 ? weights : filled({n}, DType::f32),
               gradients = filled({n}, dtype), first = filled({n}, DType::f32),
               second = filled({n}, DType::f32);
  fill(second.view(), 1);
  UpdateArenas arenas{weights.view(), master.view(), gradients.view(), {}};
  if (moments > 0) arenas.moments[0] = first.view();
  if (moments > 1) arenas.moments[1] = second.view();
  const DeviceValue<float> factor(Device::cpu, 1.0f);
  const DeviceValue<StepState> step(Device::cpu, StepState{.steps = 1, .lr = 1e-6f});
  const DeviceValue<StepOutcome> report(Device::cpu, StepOutcome{.taken = true, .updates = {}});
  for (auto _ : state) update(rule, arenas, factor.cell(), step.cell(), report.cell());
  state.SetItemsProcessed(state.iterations() * n);
}

void run_unscale(State& state, DType dtype) {
  const Tensor gradients = filled({1'000'000}, dtype);
  const DeviceValue<ScaleState> scale(Device::cpu, ScaleState{.scale = 1024});
  const DeviceValue<GradientCounts> found(Device::cpu);
  const DeviceValue<float> factor(Device::cpu);
  for (auto _ : state) unscale(gradients.view(), scale.cell(), found.cell(), factor.cell());
  count(state, {gradients});
}

void run_gemm(State& state, std::int64_t n, DType dtype, DType sums) {
  const Tensor a = filled({n, n}, dtype), b = filled({n, n}, dtype), c({n, n}, dtype);
  for (auto _ : state) gemm(a.view(), Trans::no, b.view(), Trans::no, c.view(), sums, {});
  state.counters["FLOP/s"] =
      benchmark::Counter(2.0 * static_cast<double>(n * n * n), benchmark::Counter::kIsIterationInvariantRate);
}

template <class Body>
void add(const std::string& name, Body body) {
  // Real time, because other threads do the work.
  benchmark::RegisterBenchmark(name.c_str(), body)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

void add_all() {
  const std::pair<const char*, Unary> functions[] = {
      {"relu", Unary::relu}, {"sigmoid", Unary::sigmoid}, {"tanh", Unary::tanh}};
  const auto adam = adam_rule<false>(0.9, 0.999, 1e-8f, 0);
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
    const std::string in = concat("/", dtype);
    if (dtype != DType::f32) {
      add("cast/f32/to" + in, [=](State& state) { run_cast(state, DType::f32, dtype); });
      add("cast" + in + "/to/f32", [=](State& state) { run_cast(state, dtype, DType::f32); });
    }
    for (const auto& [name, f] : functions) {
      add(name + in, [=, f = f](State& state) { run_unary(state, f, dtype); });
      add(concat(name, "_backward", in), [=, f = f](State& state) { run_unary_backward(state, f, dtype); });
    }
    add("add_bias" + in, [=](State& state) { run_add_bias(state, dtype); });
    add("column_sums" + in, [=](State& state) { run_column_sums(state, dtype); });
    add("cross_entropy" + in, [=](State& state) { run_cross_entropy(state, dtype); });
    add("unscale" + in, [=](State& state) { run_unscale(state, dtype); });
    add("sgd" + in, [=](State& state) {
      run_update(state, SgdRule<true>{.momentum = 0.9f, .weight_decay = 0}, 1, dtype);
    });
    add("adam" + in, [=](State& state) { run_update(state, adam, 2, dtype); });
    for (const std::int64_t n : {256, 1024})
      add(concat("gemm", in, "/", n), [=](State& state) { run_gemm(state, n, dtype, DType::f32); });
  }
  add("gemm/f16/f16_sums/1024", [](State& state) { run_gemm(state, 1024, DType::f16, DType::f16); });
}

}  // namespace
}  // namespace tinymp::kernels

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::AddCustomContext("threads", std::to_string(tinymp::threads()));
  tinymp::kernels::add_all();
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
