#include <kernels/profile.h>
#include <tests/base/sanitized.h>
#include <tests/cuda/device.h>
#include <tests/kernels/conv_problems.h>
#include <tests/kernels/rig.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

/// Convolutions on Device::cuda against the CPU, also those in formats that no tensor core takes. Sums in FP16 are rounded
/// once an instruction there, and at each step here.
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

/// `roundings`: so many steps of the sum are rounded to the format of the result.
void check_like(const Tensor& there, const Tensor& here, bool same_bits, std::int64_t roundings) {
  if (same_bits) {
    CHECK(bits_equal(there, here));
    return;
  }
  const std::vector<double> t = there.to_doubles(), h = here.to_doubles();
  const double rounding = static_cast<double>(roundings) *
                          (here.dtype() == DType::f16 ? 0x1p-10 : 0x1p-7);  // a tensor core cuts off
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (std::isnan(h[i]) && std::isnan(t[i])) continue;
    REQUIRE(std::fabs(t[i] - h[i]) <= rounding * std::max(1.0, std::fabs(h[i])));
  }
}

void check(const ConvProblem& p, DType dtype, DType sums, std::int64_t offset) {
  INFO(p << ", " << dtype << ", sums in " << sums << ", from " << offset);
  const Tensor x = drawn(p.x, dtype, 1, 1), w = drawn(p.w(), dtype, 2, 1), dy = drawn(p.y(), dtype, 3, 1);
  const bool tensor_cores = is_narrow(dtype) && (sums == DType::f32 || dtype == sums);
  const auto both = [&](const Kernel& kernel, const Tensor& a, const Tensor& b, const Shape& c,
                        std::int64_t terms) {
    const kernels::Profile profile;
    const Tensor there = written(kernel, a, b, c, offset, Device::cuda);
    if (there.size() > offset) {
      const std::vector<kernels::ProfileLine> lines = profile.lines();
      const auto line =
          std::ranges::find_if(lines, [](const auto& l) { return l.kernel.starts_with("conv2d"); });
      REQUIRE(line != lines.end());
      if (a.size() > 0) CHECK(line->way == (tensor_cores ? "mma" : "by definition"));
    }
    check_like(there, written(kernel, a, b, c, offset, Device::cpu),
               !tensor_cores || (adds_as_cpu() && sums == DType::f32), sums == DType::f32 ? 1 : terms);
  };
  both([&](const View& a, const View& b, const View& c) { kernels::conv2d(a, b, p.window, c, sums, {}); }, x,
       w, p.y(), w.size() / p.outputs);
  both([&](const View& a, const View& b, const View& c) { kernels::conv2d_dx(a, b, p.window, c, sums, {}); },
       dy, w, p.x, w.size() / p.x[3]);
  both([&](const View& a, const View& b, const View& c) { kernels::conv2d_dw(a, b, p.window, c, sums, {}); },
       x, dy, p.w(), dy.size() / p.outputs);
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

TEST_CASE("conv2d by definition and its gradients have the bits of the CPU") {
  NEEDS_CUDA();
  for (const ConvProblem& p : problems()) {
    check(p, DType::f32, DType::f32, 0);
    check(p, DType::f64, DType::f32, 0);
    check(p, DType::bf16, DType::f16, 0);
  }
}

}  // namespace tinymp::test
