#include <kernels/profile.h>
#include <tests/base/sanitized.h>
#include <tests/cuda/device.h>
#include <tests/kernels/conv_problems.h>
#include <tests/kernels/rig.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

/// Convolutions on Device::cuda against the CPU, also those in formats that no tensor core takes. Tensor cores round sums in
/// FP16 once an instruction, the CPU at each step; so these are of whole numbers whose sums FP16 holds.
namespace tinymp::test {
namespace {

/// Tiles have 64 rows and 32 columns, with many channels 128 and 128, and 32 steps along k.
std::vector<ConvProblem> problems() {
  std::vector<ConvProblem> all = conv_problems();
  const std::vector<ConvProblem> wide{{{3, 9, 8, 16}, 24, {3, 3, 1, 1}}, {{9, 6, 7, 8}, 72, {3, 3, 2, 1}},
                                      {{2, 5, 5, 72}, 8, {5, 5, 1, 2}},  {{1, 12, 11, 24}, 136, {3, 2, 3, 0}},
                                      {{2, 7, 7, 2}, 6, {2, 2, 2, 0}},   {{2, 6, 6, 8}, 8, {1, 1, 3}},
                                      {{17, 3, 3, 72}, 72, {3, 3, 1, 1}}};
  all.insert(all.end(), wide.begin(), wide.end());
  if (sanitized) all = {all[1], all[6], wide[1]};  // the others take minutes then
  return all;
}

using Kernel = std::function<void(const View& a, const View& b, const View& c)>;

/// What `kernel` writes on a device. All three tensors begin `offset` elements behind what a pool gives.
Tensor written(const Kernel& kernel, const Tensor& a, const Tensor& b, const Shape& c, std::int64_t offset,
               Device device) {
  const auto shifted = [&](const Tensor& x) {
    const Tensor memory(Shape{x.size() + offset}, x.dtype(), device);
    const Tensor part = memory.slice(offset, x.shape());
    kernels::cast(x.to(device).view(), part.view());
    return part;
  };
  const Tensor result({c.size() + offset}, a.dtype(), device);
  kernels::fill(result.view(), std::numeric_limits<double>::quiet_NaN());
  const Tensor part = result.slice(offset, c);
  kernel(shifted(a).view(), shifted(b).view(), part.view());
  return result.to(Device::cpu);
}

void check_like(const Tensor& there, const Tensor& here, bool same_bits) {
  if (same_bits) {
    CHECK(bits_equal(there, here));
    return;
  }
  const std::vector<double> t = there.to_doubles(), h = here.to_doubles();
  const double rounding =
      here.dtype() == DType::f16 ? 0x1p-10 : 0x1p-7;  // of another sum, which a tensor core cuts off
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (std::isnan(h[i]) && std::isnan(t[i])) continue;
    REQUIRE(std::fabs(t[i] - h[i]) <= rounding * std::max(1.0, std::fabs(h[i])));
  }
}

/// -1, 0 and 1. A sum of 2048 of their products is exact in FP16, in any order.
Tensor signs(const Shape& shape, DType dtype, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (float& value : values) value = static_cast<float>(rng.below(3)) - 1;
  return Tensor::from(shape, values, dtype);
}

void check(const ConvProblem& p, DType dtype, DType sums, std::int64_t offset) {
  INFO(p << ", " << dtype << ", sums in " << sums << ", from " << offset);
  const bool tensor_cores = is_narrow(dtype) && (sums == DType::f32 || dtype == sums);
  const auto values = [&](const Shape& shape, std::uint64_t seed) {
    return tensor_cores && sums == DType::f16 ? signs(shape, dtype, seed) : drawn(shape, dtype, seed, 1);
  };
  const Tensor x = values(p.x, 1), w = values(p.w(), 2), dy = values(p.y(), 3);
  const auto both = [&](const Kernel& kernel, const Tensor& a, const Tensor& b, const Shape& c) {
    const kernels::Profile profile;
    const Tensor there = written(kernel, a, b, c, offset, Device::cuda);
    if (there.size() > offset) {
      const std::vector<kernels::ProfileLine> lines = profile.lines();
      const auto line =
          std::ranges::find_if(lines, [](const auto& l) { return l.kernel.starts_with("conv2d"); });
      REQUIRE(line != lines.end());
      if (a.size() > 0) CHECK(line->way == (tensor_cores && has_mma() ? "mma" : "by definition"));
    }
    check_like(there, written(kernel, a, b, c, offset, Device::cpu),
               adds_as_cpu() || !tensor_cores || !has_mma() || sums == DType::f16);
  };
  both([&](const View& a, const View& b, const View& c) { kernels::conv2d(a, b, p.window, c, sums, {}); }, x,
       w, p.y());
  both([&](const View& a, const View& b, const View& c) { kernels::conv2d_dx(a, b, p.window, c, sums, {}); },
       dy, w, p.x);
  both([&](const View& a, const View& b, const View& c) { kernels::conv2d_dw(a, b, p.window, c, sums, {}); },
       x, dy, p.w());
}

}  // namespace

TEST_CASE("conv2d on tensor cores and its gradients are those of the CPU") {
  NEEDS_CUDA();
  for (const ConvProblem& p : problems()) {
    for (const DType dtype : {DType::f16, DType::bf16}) check(p, dtype, DType::f32, 0);
    check(p, DType::f16, DType::f16, 0);
  }
}

TEST_CASE("conv2d on tensor cores takes tensors that begin anywhere") {
  NEEDS_CUDA();
  for (const ConvProblem& p : problems()) {
    for (const std::int64_t offset : {1, 2, 4}) check(p, DType::f16, DType::f32, offset);
    check(p, DType::f16, DType::f16, 1);
  }
}

TEST_CASE("conv2d on tensor cores keeps sums in the format that it is asked for") {
  NEEDS_CUDA();
  std::vector<float> values(48, 0);
  values[0] = 2048;
  values[16] = values[32] = 1;  // each in an instruction of its own
  const Tensor x = Tensor::from({1, 1, 1, 48}, values, DType::f16).to(Device::cuda),
               w = Tensor::from({1, 1, 48, 1}, std::vector<float>(48, 1), DType::f16).to(Device::cuda),
               y({1, 1, 1, 1}, DType::f16, Device::cuda);
  kernels::conv2d(x.view(), w.view(), {1, 1}, y.view(), DType::f16, {});
  CHECK(y.item() == 2048);
  kernels::conv2d(x.view(), w.view(), {1, 1}, y.view(), DType::f32, {});
  CHECK(y.item() == 2050);
}

TEST_CASE("conv2d by definition and its gradients have the bits of the CPU") {
  NEEDS_CUDA();
  for (const ConvProblem& p : problems()) {
    check(p, DType::f32, DType::f32, 0);
    check(p, DType::f64, DType::f32, 0);
    check(p, DType::bf16, DType::f16, 0);
  }
}

}  // namespace tinymp::test
