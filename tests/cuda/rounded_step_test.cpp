#include <tests/cuda/device.h>
#include <tests/cuda/mixed.h>
#include <tests/kernels/rig.h>
#include <tinymp/ops/ops.h>

/// Updates that are rounded stochastically or toward zero, or compensated: a device has the bits of the CPU.
namespace tinymp::test {
namespace {

struct Formats {
  DType weights, master, moments;
};
struct Way {
  Formats formats;
  kernels::UpdateRounding rounding;
};

std::vector<Way> ways() {
  const DType f16 = DType::f16, bf16 = DType::bf16, f32 = DType::f32;
  const Rounding zero = Rounding::toward_zero, random = Rounding::stochastic, near = Rounding::nearest_even;
  std::vector<Way> all;
  for (const DType format : {f16, bf16}) {
    for (const Rounding mode : {zero, random}) {
      all.push_back({{format, format, f32}, {.masters = mode, .seed = 3}});
      all.push_back({{format, format, format}, {.masters = mode, .seed = 3}});
      all.push_back({{format, f32, f32}, {.weights = mode, .seed = 4}});
      all.push_back({{format, f16, f32}, {.masters = mode, .weights = near, .seed = 5}});
      all.push_back({{format, bf16, f32}, {.masters = random, .weights = mode, .seed = 6}});
    }
    all.push_back({{format, format, f32}, {.kahan = true}});
    all.push_back({{format, format, bf16}, {.kahan = true}});
    all.push_back({{format, format, f32}, {.masters = random, .seed = 3, .same_words_each_step = true}});
  }
  return all;
}

struct Result {
  std::vector<Tensor> tensors;
  kernels::UpdateCounts updates;
};

Result two_steps(const kernels::UpdateRule& rule, const Way& way, std::int64_t n, Device device) {
  const auto& [f, rounding] = way;
  const Tensor master = drawn({n}, f.master, 1).to(device);
  const Tensor weights = f.weights == f.master ? master : Tensor({n}, f.weights, device);
  const Tensor first = drawn({n}, f.moments, 2, 0.1f).to(device);
  const Tensor second = cast(exp(drawn({n}, DType::f32, 3)), f.moments).to(device);
  const Tensor kept = drawn({n}, f.master, 7, 0.01f).to(device);
  const Tensor gradients = mixed(n, f.weights, 4).to(device);
  const DeviceValue<float> factor(device, 0.25f);
  const DeviceValue<kernels::StepState> state(device, {.steps = 3, .lr = 0.01f});
  const DeviceValue<kernels::StepOutcome> report(device);
  const DeviceValue<kernels::GradientCounts> found(device, kernels::GradientCounts());
  const DeviceValue<kernels::PassCounts> pass(device, kernels::PassCounts());
  for (int step = 0; step < 2; ++step) {
    kernels::take_step(rule,
                       {weights.view(),
                        master.view(),
                        gradients.view(),
                        {first.view(), second.view()},
                        kept.view(),
                        rounding},
                       factor.cell(), found.cell(), true, state.cell(), report.cell(), pass.cell());
  }
  Result result;
  for (const Tensor& t : {weights, master, first, second, kept}) result.tensors.push_back(t.to(Device::cpu));
  result.updates = report.read().updates;
  return result;
}

}  // namespace

TEST_CASE("rounded steps: for every rule, format, size and rounding as on the CPU") {
  NEEDS_CUDA();
  const kernels::UpdateRule rules[] = {kernels::SgdRule<false>{0, 0.01f}, kernels::SgdRule<true>{0.9f, 0.01f},
                                       kernels::adam_rule<false>(0.9, 0.999, 1e-8f, 0.01f),
                                       kernels::adam_rule<true>(0.9, 0.999, 1e-8f, 0.01f),
                                       kernels::AdagradRule{1e-10f, 0.01f}};
  for (const Way& way : ways()) {
    const auto& [f, rounding] = way;
    for (const std::int64_t n : {1, 3, 64, 1003}) {
      for (const kernels::UpdateRule& rule : rules) {
        INFO(f.weights << f.master << f.moments << ", masters " << static_cast<int>(rounding.masters)
                       << ", weights " << static_cast<int>(rounding.weights)
                       << (rounding.kahan ? ", Kahan" : "") << ", " << n << " weights, rule "
                       << rule.index());
        const Result here = two_steps(rule, way, n, Device::cpu),
                     there = two_steps(rule, way, n, Device::cuda);
        for (std::size_t i = 0; i < here.tensors.size(); ++i)
          REQUIRE(bits_equal(here.tensors[i], there.tensors[i]));
        CHECK(here.updates.values == there.updates.values);
        CHECK(here.updates.underflowed == there.updates.underflowed);
        CHECK(here.updates.absorbed == there.updates.absorbed);
      }
    }
  }
}

}  // namespace tinymp::test
