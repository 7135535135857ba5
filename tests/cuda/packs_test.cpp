#include <tests/cuda/device.h>
#include <tests/cuda/mixed.h>
#include <tests/kernels/rig.h>
#include <tinymp/ops/ops.h>
#include <functional>

/// Kernels that move whole packs: their bits are those of the CPU, whatever the size and wherever a tensor begins.
namespace tinymp::test {
namespace {

/// `n` values of x, from `offset` on, on a device.
Tensor part(const Tensor& x, std::int64_t offset, std::int64_t n, Device device) {
  return x.to(device).slice(offset, {n});
}

struct Place {
  std::int64_t n, offset;
};
constexpr Place places[] = {{1, 0}, {7, 0}, {8, 0}, {9, 0}, {64, 3}, {1000, 8}, {4099, 0}, {4099, 1}};

using Kernel = std::function<void(const View& a, const View& b, const View& y)>;

/// y begins as b does, so that a kernel may add to it.
void check_kernel(const Kernel& kernel, DType in, DType out) {
  for (const Place& p : places) {
    INFO(in << " to " << out << ", " << p.n << " values from " << p.offset);
    const Tensor a = mixed(p.n + p.offset, in, 1), b = mixed(p.n + p.offset, in, 2), begin = cast(b, out);
    Tensor result[2];
    for (const Device device : {Device::cpu, Device::cuda}) {
      const Tensor y = Tensor::like(begin).to(device);
      kernels::cast(begin.to(device).view(), y.view());
      const Tensor target = y.slice(p.offset, {p.n});
      kernel(part(a, p.offset, p.n, device).view(), part(b, p.offset, p.n, device).view(), target.view());
      result[device == Device::cuda] = y.to(Device::cpu);
    }
    REQUIRE(bits_equal(result[0], result[1]));
  }
}

}  // namespace

TEST_CASE("packs: element-wise kernels, in every format, size and place") {
  NEEDS_CUDA();
  for (const DType dtype : formats) {
    check_kernel([](const View& a, const View& b, const View& y) { kernels::add(a, b, y); }, dtype, dtype);
    check_kernel([](const View& a, const View& b, const View& y) { kernels::subtract(a, b, y); }, dtype,
                 dtype);
    check_kernel([](const View& a, const View& b, const View& y) { kernels::multiply(a, b, y); }, dtype,
                 dtype);
    check_kernel([](const View& a, const View&, const View& y) { kernels::scale(a, 0.3, y); }, dtype, dtype);
    check_kernel([](const View&, const View&, const View& y) { kernels::fill(y, 0.1); }, dtype, dtype);
    for (const kernels::Unary f : {kernels::Unary::relu, kernels::Unary::sigmoid, kernels::Unary::exp}) {
      check_kernel([f](const View& a, const View&, const View& y) { kernels::unary(f, a, y); }, dtype, dtype);
      check_kernel([f](const View& a, const View& b, const View& y) { kernels::unary_backward(f, a, b, y); },
                   dtype, dtype);
    }
    for (const DType to : formats) {
      check_kernel([](const View& a, const View&, const View& y) { kernels::cast(a, y); }, dtype, to);
      check_kernel([](const View& a, const View&, const View& y) { kernels::accumulate(a, y); }, dtype, to);
    }
  }
}

TEST_CASE("packs: each number of 16 bits is cast as on the CPU, NaN included") {
  NEEDS_CUDA();
  const Tensor halves = all_halves();
  Tensor others({65536}, DType::bf16);
  for (int i = 0; i < 65536; ++i)
    others.data<bfloat16>()[i] = bfloat16::from_bits(static_cast<std::uint16_t>(i));
  for (const Tensor& x : {halves, others}) {
    for (const DType to : formats) CHECK(bits_equal(cast(x, to), cast(x.to(Device::cuda), to)));
  }
  const Tensor wide = cast(others, DType::f32);  // beyond FP16, and below it
  for (const DType to : formats) CHECK(bits_equal(cast(wide, to), cast(wide.to(Device::cuda), to)));
}

TEST_CASE("packs: a kernel of one format refuses two") {
  NEEDS_CUDA();
  const Tensor x = mixed(9, DType::f16, 1).to(Device::cuda), y = mixed(9, DType::f32, 2).to(Device::cuda);
  CHECK_THROWS_AS(kernels::scale(x.view(), 2, y.view()), Error);
  CHECK_THROWS_AS(kernels::add(y.view(), x.view(), y.view()), Error);
}

TEST_CASE("packs: add_bias, for rows that are whole packs and for others") {
  NEEDS_CUDA();
  for (const DType dtype : formats) {
    for (const std::int64_t columns : {1, 7, 8, 24, 130}) {
      INFO(dtype << ", " << columns << " columns");
      const Tensor x = mixed(37 * columns, dtype, 1).viewed_as({37, columns}),
                   bias = mixed(columns, dtype, 2);
      CHECK(bits_equal(add_bias(x, bias), add_bias(x.to(Device::cuda), bias.to(Device::cuda))));
    }
  }
}

TEST_CASE("packs: what a check counts of the gradients, each pattern of 16 bits among them") {
  NEEDS_CUDA();
  const ScaleState scale{};
  const auto counts = [&](const Tensor& x) {
    const DeviceValue<ScaleState> state(x.device(), scale);
    const DeviceValue<kernels::GradientCounts> found(x.device());
    const DeviceValue<float> factor(x.device());
    kernels::unscale(x.view(), state.cell(), found.cell(), factor.cell());
    return found.read();
  };
  std::vector<Tensor> all{all_halves(), cast(all_halves(), DType::bf16)};
  for (const DType dtype : formats)
    for (const Place& p : places) all.push_back(mixed(p.n, dtype, 5));
  for (const Tensor& x : all) {
    INFO(x.dtype() << x.shape());
    const kernels::GradientCounts here = counts(x), there = counts(x.to(Device::cuda));
    CHECK(here.values == there.values);
    CHECK(here.nonfinite == there.nonfinite);
    CHECK(here.zeros == there.zeros);
    CHECK(here.subnormals == there.subnormals);
  }
}

TEST_CASE("packs: an update of weights, for every rule, in usual and in other formats") {
  NEEDS_CUDA();
  struct Formats {
    DType weights, master, moments;
  };
  const kernels::UpdateRule rules[] = {kernels::SgdRule<false>{0, 0.01f}, kernels::SgdRule<true>{0.9f, 0.01f},
                                       kernels::adam_rule<false>(0.9, 0.999, 1e-8f, 0.01f),
                                       kernels::adam_rule<true>(0.9, 0.999, 1e-8f, 0.01f),
                                       kernels::AdagradRule{1e-10f, 0.01f}};
  for (const Formats& f :
       {Formats{DType::f32, DType::f32, DType::f32}, Formats{DType::f16, DType::f32, DType::f32},
        Formats{DType::bf16, DType::f32, DType::f32}, Formats{DType::f16, DType::f16, DType::f32},
        Formats{DType::f16, DType::f16, DType::f16}, Formats{DType::f64, DType::f64, DType::f64}}) {
    for (const std::int64_t n : {1, 3, 4, 5, 64, 1003}) {
      for (const kernels::UpdateRule& rule : rules) {
        INFO(f.weights << f.master << f.moments << ", " << n << " weights, rule " << rule.index());
        std::vector<Tensor> result[2];
        kernels::UpdateCounts counts[2];
        for (const Device device : {Device::cpu, Device::cuda}) {
          const Tensor master = drawn({n}, f.master, 1).to(device);
          const bool aliased = f.weights == f.master;
          const Tensor weights = aliased ? master : Tensor({n}, f.weights, device);
          const Tensor first = drawn({n}, f.moments, 2, 0.1f).to(device);
          const Tensor second = cast(exp(drawn({n}, DType::f32, 3)), f.moments).to(device);
          const Tensor gradients = mixed(n, f.weights, 4).to(device);
          const DeviceValue<float> factor(device, 0.25f);
          const DeviceValue<kernels::StepState> state(device, {.steps = 3, .lr = 0.01f});
          const DeviceValue<kernels::StepOutcome> report(device);
          const DeviceValue<kernels::GradientCounts> found(device, kernels::GradientCounts());
          const DeviceValue<kernels::PassCounts> pass(device, kernels::PassCounts());
          kernels::take_step(rule,
                             {weights.view(), master.view(), gradients.view(), {first.view(), second.view()}},
                             factor.cell(), found.cell(), true, state.cell(), report.cell(), pass.cell());
          REQUIRE(report.read().taken);
          CHECK(state.read().steps == 4);
          CHECK(pass.read().blocks == 0);
          CHECK(pass.read().updates.values == 0);
          counts[device == Device::cuda] = report.read().updates;
          for (const Tensor& t : {weights, master, first, second})
            result[device == Device::cuda].push_back(t.to(Device::cpu));
        }
        for (std::size_t i = 0; i < 4; ++i) REQUIRE(bits_equal(result[0][i], result[1][i]));
        CHECK(counts[0].values == counts[1].values);
        CHECK(counts[0].underflowed == counts[1].underflowed);
        CHECK(counts[0].absorbed == counts[1].absorbed);
      }
    }
  }
}

TEST_CASE("packs: a check with the norm, in one pass, finds what two passes find") {
  NEEDS_CUDA();
  const ScaleState scale{.scale = 1024};
  struct Found {
    kernels::GradientCounts counts;
    float factor, norm;
  };
  const auto found_in = [&](const Tensor& x, float max_norm) {
    const Device device = x.device();
    const DeviceValue<ScaleState> state(device, scale);
    const DeviceValue<kernels::GradientCounts> found(device);
    const DeviceValue<float> factor(device);
    const DeviceValue<kernels::PassCounts> pass(device, kernels::PassCounts());
    const Tensor norm(Shape{}, DType::f32, device);
    for (int again = 0; again < 2; ++again)  // what the first pass leaves must not count in the second
      kernels::unscale_and_clip(x.view(), state.cell(), max_norm, found.cell(), factor.cell(), norm.view(),
                                pass.cell());
    CHECK(pass.read().blocks == 0);
    return Found{found.read(), factor.read(), static_cast<float>(norm.item())};
  };
  for (const DType dtype : formats) {
    for (const std::int64_t n : {1, 15, 16, 1023, 1024, 1025, 40'000, 1024 * 1024 + 3}) {
      for (const bool special : {false, true}) {
        if (n > 1'000'000 && (special || dtype != DType::f16)) continue;
        const Tensor x = special ? mixed(n, dtype, 5) : drawn({n}, dtype, 5);
        INFO(dtype << x.shape() << special);
        const Found here = found_in(x, 0.01f), there = found_in(x.to(Device::cuda), 0.01f);
        CHECK(here.counts.values == there.counts.values);
        CHECK(here.counts.nonfinite == there.counts.nonfinite);
        CHECK(here.counts.zeros == there.counts.zeros);
        CHECK(here.counts.subnormals == there.counts.subnormals);
        CHECK(std::bit_cast<std::uint32_t>(here.factor) == std::bit_cast<std::uint32_t>(there.factor));
        CHECK((std::isnan(here.norm) ? std::isnan(there.norm) : here.norm == there.norm));
      }
    }
  }
}

}  // namespace tinymp::test
