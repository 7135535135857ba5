#include <kernels/cuda/gemm/ladder.h>
#include <kernels/profile.h>
#include <tests/base/sanitized.h>
#include <tests/base/says.h>
#include <tests/cuda/device.h>
#include <tests/kernels/conv_problems.h>
#include <tests/kernels/float8_rig.h>
#include <algorithm>
#include <functional>

/// FP8 on Device::cuda against the CPU.
namespace tinymp::test {
namespace {

using kernels::Unary;

/// On a GPU, and on an emulated chip, tensor cores add up in their own way: within a share of the largest term.
void check_like(const Tensor& there, const Tensor& here, bool same_bits, double tolerance) {
  if (same_bits) {
    REQUIRE(same(there, here));
    return;
  }
  const std::vector<double> t = there.to_doubles(), h = here.to_doubles();
  for (std::size_t i = 0; i < t.size(); ++i) {
    if (std::isnan(h[i]) && std::isnan(t[i])) continue;
    REQUIRE(std::fabs(t[i] - h[i]) <= tolerance);
  }
}

constexpr Device both[] = {Device::cpu, Device::cuda};

TEST_CASE("FP8 on the GPU: quantize and amax have the bits of the CPU, in every rounding, size and place") {
  NEEDS_CUDA();
  for (const DType to : float8_formats) {
    for (const DType from : float8_results) {
      for (const std::int64_t n : {1, 7, 8, 9, 64, 4099}) {
        for (const std::int64_t offset : {0, 3, 16}) {
          const Tensor x = drawn({n}, from, 5, 700);
          for (const Rounding rounding :
               {Rounding::nearest_even, Rounding::toward_zero, Rounding::stochastic}) {
            const Overflow overflow = n % 2 == 0 ? Overflow::saturate : Overflow::infinity;
            Tensor result[2];
            float top[2] = {};
            for (const Device device : both) {
              const int at = device == Device::cuda;
              const Tensor part = shifted(x, offset, device);
              const Tensor y = Tensor(Shape{n + offset}, to, device).slice(offset, {n});
              const DeviceValue<float> scale(device, 1.7f), largest(device, -1);
              const Tensor step = Tensor::from({}, std::vector<double>{6}).to(device);
              kernels::quantize(part.view(), {rounding, overflow, 3, 4}, cell(scale), step.view(), y.view());
              kernels::amax(part.view(), largest.cell());
              result[at] = y.to(Device::cpu);
              top[at] = largest.read();
            }
            INFO(from << " to " << to << ", " << n << " values from " << offset << ", rounding "
                      << static_cast<int>(rounding));
            REQUIRE(std::equal(codes_of(result[0]), codes_of(result[0]) + n, codes_of(result[1])));
            REQUIRE(top[0] == top[1]);
          }
        }
      }
    }
  }
}

TEST_CASE(
    "FP8 on the GPU: to nearest, floats of every sign, exponent and beginning have the bits of the CPU") {
  NEEDS_CUDA();
  constexpr std::int64_t n = std::int64_t{1} << 18;
  for (const std::uint32_t end : {0u, 1u, 0x2000u, 0x3fffu}) {
    std::vector<float> x(n);
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = std::bit_cast<float>(static_cast<std::uint32_t>(i) << 14 | end);
    const Tensor here = Tensor::from({n}, x);
    for (const DType to : float8_formats) {
      for (const Overflow overflow : {Overflow::infinity, Overflow::saturate}) {
        Tensor result[2];
        for (const Device device : both) {
          const Tensor y({n}, to, device);
          kernels::quantize(here.to(device).view(), {Rounding::nearest_even, overflow, 0, 0}, {}, {},
                            y.view());
          result[device == Device::cuda] = y.to(Device::cpu);
        }
        INFO("to " << to << ", the last bits " << end << ", overflow " << static_cast<int>(overflow));
        REQUIRE(std::equal(codes_of(result[0]), codes_of(result[0]) + n, codes_of(result[1])));
      }
    }
  }
}

TEST_CASE("FP8 on the GPU: amax ignores NaN and keeps infinity") {
  NEEDS_CUDA();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  infinity = std::numeric_limits<float>::infinity();
  const auto of = [](const std::vector<float>& values) {
    const DeviceValue<float> top(Device::cuda, -1);
    kernels::amax(Tensor::from({static_cast<std::int64_t>(values.size())}, values).to(Device::cuda).view(),
                  top.cell());
    return top.read();
  };
  CHECK(of({}) == 0);
  CHECK(of({nan}) == 0);
  CHECK(of({1, nan, -2}) == 2);
  CHECK(of({1, nan, -infinity}) == infinity);
}

TEST_CASE("FP8 on the GPU: amax_or_nan has the bits of the CPU") {
  NEEDS_CUDA();
  constexpr float nan = std::numeric_limits<float>::quiet_NaN(),
                  infinity = std::numeric_limits<float>::infinity();
  std::vector<float> many(5000, 0.5f);
  many[4321] = -nan;
  for (const DType dtype : float8_results) {
    for (const std::vector<float>& values :
         {std::vector<float>{}, {0, -0.0f}, {1, -3, 2}, {1, -infinity}, {1, nan, infinity}, {-nan}, many}) {
      float top[2] = {};
      for (const Device device : both) {
        const DeviceValue<float> largest(device, -1);
        const Tensor x = Tensor::from({static_cast<std::int64_t>(values.size())}, values, dtype);
        kernels::amax_or_nan(x.to(device).view(), largest.cell());
        top[device == Device::cuda] = largest.read();
      }
      CHECK(std::bit_cast<std::uint32_t>(top[0]) == std::bit_cast<std::uint32_t>(top[1]));
    }
  }
}

TEST_CASE("FP8 on the GPU: the amax of several tensors, and current scales, have the bits of the CPU") {
  NEEDS_CUDA();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const Device device : both) {
    const auto raised = [&](float before, const std::vector<float>& values) {
      const DeviceValue<float> top(device, before);
      const Tensor x = Tensor::from({static_cast<std::int64_t>(values.size())}, values).to(device);
      kernels::raise_amax(x.view(), top.cell());
      return top.read();
    };
    CHECK(raised(-1, {0, 0}) == 0);
    CHECK(raised(-1, {}) == -1);
    CHECK(raised(-1, {1e-45f}) == 1e-45f);
    CHECK(raised(3, {-2, 1}) == 3);
    CHECK(raised(3, {-4, 1}) == 4);
    CHECK(raised(infinity, {-4, 1}) == infinity);
    CHECK(raised(3, {-infinity, 1}) == infinity);
    for (const float amax : {0.0f, 1e-45f, 1e-13f, 0.3f, 448.0f, 3e38f, infinity}) {
      for (const float largest : {448.0f, 57344.0f}) {
        const DeviceValue<float> at(device, amax), scale(device, -7);
        kernels::current_scale(TensorScaling::current, largest, at.cell(), scale.cell());
        CHECK(scale.read() == te_current_scale(amax, largest));
        kernels::current_scale(TensorScaling::torchao, largest, at.cell(), scale.cell());
        CHECK(scale.read() == torchao_current_scale(amax, largest));
      }
    }
  }
}

TEST_CASE("FP8 on the GPU: delayed scales move together, each by its rule") {
  NEEDS_CUDA();
  constexpr std::int64_t count = 5;
  const std::vector<float> amaxes{2, -1, 0, 1e-30f, std::numeric_limits<float>::infinity()};
  for (const int length : {1, 7}) {
    for (const AmaxAlgorithm algorithm : {AmaxAlgorithm::max, AmaxAlgorithm::most_recent}) {
      const DelayedScaling policy{448, 1, length, algorithm};
      std::vector<std::vector<float>> histories(count, std::vector<float>(static_cast<std::size_t>(length)));
      std::vector<DelayedScale> expected(count);
      Tensor history[2], next[2], scale[2], amax[2];
      for (const Device device : both) {
        const int at = device == Device::cuda;
        history[at] = Tensor({count, length}, DType::f32, device),
        next[at] = Tensor({count}, DType::f64, device);
        scale[at] = Tensor({count}, DType::f32, device), amax[at] = Tensor({count}, DType::f32, device);
        for (const Tensor& zero : {history[at], next[at]}) kernels::fill(zero.view(), 0);
        kernels::fill(scale[at].view(), 1);
      }
      for (int step = 0; step < 12; ++step) {
        std::vector<float> now = amaxes;  // each tensor meets each kind of amax
        std::rotate(now.begin(), now.begin() + step % count, now.end());
        for (std::size_t i = 0; i < count; ++i)
          if (now[i] >= 0) move_delayed_scale(policy, histories[i].data(), now[i], expected[i]);
        for (const Device device : both) {
          const int at = device == Device::cuda;
          kernels::cast(Tensor::from({count}, now).to(device).view(), amax[at].view());
          kernels::move_delayed_scales(policy, amax[at].view(), history[at].view(), next[at].view(),
                                       scale[at].view());
          INFO(name_of(algorithm) << " of " << length << ", step " << step
                                  << (at == 1 ? ", there" : ", here"));
          const std::vector<float> scales = scale[at].to_floats(), all = history[at].to_floats();
          const std::vector<double> places = next[at].to_doubles();
          CHECK(amax[at].to_floats() == std::vector<float>(count, -1));
          for (std::size_t i = 0; i < count; ++i) {
            CHECK(scales[i] == expected[i].scale);
            CHECK(places[i] == expected[i].next);
            const auto row = all.begin() + static_cast<std::ptrdiff_t>(i) * length;
            CHECK(std::equal(row, row + length, histories[i].begin()));
          }
        }
      }
    }
  }
}

TEST_CASE("FP8 on the GPU: casts of all codes and of values have the bits of the CPU") {
  NEEDS_CUDA();
  for (const DType eight : float8_formats) {
    for (const DType other : {DType::f32, DType::f16, DType::bf16, DType::f64, DType::e4m3, DType::e5m2}) {
      const Tensor values = drawn({3001}, other, 7, 500);
      Tensor wide[2], narrow[2];
      for (const Device device : both) {
        const int at = device == Device::cuda;
        const Tensor to({256}, other, device), back({3001}, eight, device);
        kernels::cast(all_codes(eight).to(device).view(), to.view());
        kernels::cast(values.to(device).view(), back.view());
        wide[at] = to.to(Device::cpu), narrow[at] = back.to(Device::cpu);
      }
      INFO(eight << " and " << other);
      CHECK(same(wide[0], wide[1]));
      CHECK(same(narrow[0], narrow[1]));
    }
  }
}

struct Sizes {
  std::int64_t M, N, K;
};

std::vector<Sizes> sizes() {
  if (sanitized) return {{17, 9, 33}};
  return {{0, 3, 2},    {1, 1, 0},    {1, 1, 1},      {3, 5, 7},      {16, 8, 32},    {17, 9, 33},
          {64, 32, 64}, {65, 33, 70}, {130, 10, 129}, {10, 130, 300}, {128, 130, 40}, {33, 32, 1100}};
}

/// How the GPU multiplied last.
std::string expected_way() { return multiplies_float8() ? "mma of FP8" : has_mma() ? "mma as f16" : "tiled"; }

void check_gemm(const Sizes& s, const Mix& mix, const Product& way, DType dtype, std::int64_t offset) {
  const Product p{.M = s.M, .N = s.N, .K = s.K, .ta = way.ta, .tb = way.tb, .dtype = dtype};
  const Tensor a = random_codes(p.a_shape(), mix.a, 1, 30), b = random_codes(p.b_shape(), mix.b, 2, 30),
               bias = drawn({p.N}, dtype, 3, 1);
  for (const std::optional<Unary>& f : {std::optional<Unary>(), {Unary::relu}, {Unary::tanh}}) {
    Tensor result[2];
    for (const Device device : both) {
      const DeviceValue<float> one(device, 3), other(device, 5);
      const Tensor by = bias.to(device), c = poisoned({p.M, p.N}, dtype, device);
      const kernels::Profile profile;
      kernels::gemm(shifted(a, offset, device).view(), p.ta, shifted(b, offset, device).view(), p.tb,
                    c.view(), DType::f32, {f ? by.view() : View{}, f, {cell(one), cell(other)}});
      result[device == Device::cuda] = c.to(Device::cpu);
      const std::vector<kernels::ProfileLine> lines = profile.lines();
      const auto line = std::ranges::find_if(lines, [](const auto& l) { return l.kernel == "gemm"; });
      REQUIRE(line != lines.end());
      if (device == Device::cuda && p.M * p.N * p.K > 0) CHECK(line->way == expected_way());
    }
    INFO(p << ", of " << mix.a << " and " << mix.b << " from " << offset);
    // Terms of 900 / 15; 13 bits of a sum, and the rounding of c.
    check_like(result[1], result[0], adds_as_cpu(), 60 * static_cast<double>(p.K) * 0x1p-9 + 1e-3);
  }
}

TEST_CASE("FP8 on the GPU: gemm in every size, mix, transposition and format of the result") {
  NEEDS_CUDA();
  for (const Sizes& s : sizes()) {
    for (const Mix& mix : float8_mixes) {
      for (const Product& way : four_transpositions()) {
        for (const DType dtype : float8_results) check_gemm(s, mix, way, dtype, 0);
      }
    }
    for (const std::int64_t offset : {1, 2, 4, 8}) check_gemm(s, float8_mixes[1], {}, DType::bf16, offset);
  }
}

TEST_CASE("FP8 on the GPU: scales of any size give a product the bits of the CPU") {
  NEEDS_CUDA();
  const std::vector<TwoScales> all = scales_of_all_sizes();
  for (std::size_t i = 0; i < all.size(); i += sanitized ? 97 : 3) {
    INFO(all[i].a << " and " << all[i].b);
    for (const float x : {0.0f, 0x1p-16f, -57344.0f})
      REQUIRE(scaled_product(x, 1.75f, all[i], Device::cuda) ==
              scaled_product(x, 1.75f, all[i], Device::cpu));
  }
  for (const float a : {57344 / 1e-22f, 3.7e-30f})
    for (const float b : {448 / 1e-15f, 4.1e-25f})
      CHECK(scaled_product(57344, 448, {a, b}, Device::cuda) ==
            scaled_product(57344, 448, {a, b}, Device::cpu));
}

TEST_CASE("FP8 on the GPU: gemm_reference has the bits of the CPU") {
  NEEDS_CUDA();
  const Product p{.M = 5, .N = 7, .K = 300, .dtype = DType::f16};
  const Tensor a = random_codes(p.a_shape(), DType::e4m3, 1), b = random_codes(p.b_shape(), DType::e5m2, 2);
  Tensor result[2];
  for (const Device device : both) {
    const Tensor c = poisoned({p.M, p.N}, p.dtype, device);
    kernels::gemm_reference(a.to(device).view(), p.ta, b.to(device).view(), p.tb, c.view(), DType::f32);
    result[device == Device::cuda] = c.to(Device::cpu);
  }
  CHECK(same(result[0], result[1]));
}

void check_conv(const ConvProblem& p, const Mix& mix, DType dtype) {
  INFO(p << ", of " << mix.a << " and " << mix.b << " in " << dtype);
  const auto& window = p.window;
  const Tensor x = random_codes(p.x, mix.a, 1, 4), w = random_codes(p.w(), mix.b, 2, 4),
               dy = random_codes(p.y(), mix.a, 3, 4), bias = drawn({p.outputs}, dtype, 4, 1);
  Tensor y[2], dx[2], dw[2];
  for (const Device device : both) {
    const int at = device == Device::cuda;
    const DeviceValue<float> one(device, 3), other(device, 5);
    const kernels::Float8Product scales{cell(one), cell(other)};
    const Tensor there[] = {x.to(device), w.to(device), dy.to(device), bias.to(device)};
    y[at] = poisoned(p.y(), dtype, device), dx[at] = poisoned(p.x, dtype, device);
    dw[at] = poisoned(p.w(), dtype, device);
    kernels::conv2d(there[0].view(), there[1].view(), window, y[at].view(), DType::f32,
                    {there[3].view(), Unary::relu, scales});
    kernels::conv2d_dx(there[2].view(), there[1].view(), window, dx[at].view(), DType::f32, scales);
    kernels::conv2d_dw(there[0].view(), there[2].view(), window, dw[at].view(), DType::f32, scales);
    y[at] = y[at].to(Device::cpu), dx[at] = dx[at].to(Device::cpu), dw[at] = dw[at].to(Device::cpu);
  }
  const auto terms = static_cast<double>(window.height * window.width * std::max(p.x[3], p.outputs));
  const auto places = static_cast<double>(p.y()[0] * p.y()[1] * p.y()[2]);
  check_like(y[1], y[0], adds_as_cpu(), terms * 0x1p-9 + 1e-2);
  check_like(dx[1], dx[0], adds_as_cpu(), terms * 0x1p-9 + 1e-2);
  check_like(dw[1], dw[0], adds_as_cpu(), places * 0x1p-9 + 1e-2);
}

TEST_CASE("FP8 on the GPU: conv2d and its gradients") {
  NEEDS_CUDA();
  const std::vector<ConvProblem> problems = conv_problems();
  for (std::size_t i = 0; i < problems.size(); ++i) {
    if (sanitized && i != 1) continue;
    for (std::size_t m = 0; m < std::size(float8_mixes); ++m)
      check_conv(problems[i], float8_mixes[m], float8_results[(i + m) % 3]);
  }
}

// How a chip adds.
// ----------------------------------------------------------------------------------------------------

class WithChip {
 public:
  explicit WithChip(kernels::Gpu gpu) { kernels::emu::machine::use_chip(gpu); }
  ~WithChip() { kernels::emu::machine::use_chip(before_); }
  WithChip(const WithChip&) = delete;

 private:
  kernels::emu::machine::Chip before_ = kernels::emu::machine::chip();
};

kernels::Operand operand_of(DType dtype) {
  return dtype == DType::e4m3 ? kernels::Operand::e4m3 : kernels::Operand::e5m2;
}

/// A sum in parts, each by the simulator from 0, added up in FP32; 0: in one.
float sum_in_parts(const kernels::TensorCore& core, const std::vector<float>& a, const std::vector<float>& b,
                   std::int64_t promote_every) {
  const auto terms = static_cast<std::int64_t>(a.size()), part = promote_every == 0 ? terms : promote_every;
  float total = 0;
  for (std::int64_t k = 0; k < terms; k += part)
    total += kernels::tensor_core_dot(core, a.data() + k, b.data() + k, std::min(part, terms - k), 0);
  return total;
}

void check_chip(kernels::Gpu gpu, const Mix& mix, int promote_every) {
  const WithChip with(gpu);
  const Product p{.M = 20, .N = 11, .K = 301};
  const Tensor a = random_codes(p.a_shape(), mix.a, 1, 30), b = random_codes(p.b_shape(), mix.b, 2, 30);
  const Tensor c = poisoned({p.M, p.N}, DType::f32, Device::cuda);
  kernels::gemm(a.to(Device::cuda).view(), p.ta, b.to(Device::cuda).view(), p.tb, c.view(), DType::f32,
                {.float8 = {.promote_every = promote_every}});
  const bool has_float8 = gpu != kernels::Gpu::a100;  // else operands go as FP16, and nothing is promoted
  const kernels::TensorCore core =
      has_float8 ? kernels::tensor_core_of_mix(gpu, operand_of(mix.a), operand_of(mix.b))
                 : kernels::tensor_core(gpu, kernels::Operand::fp16);
  const std::vector<float> av = a.to_floats(), bv = b.to_floats(), cv = c.to(Device::cpu).to_floats();
  int wrong = 0;
  for (std::int64_t m = 0; m < p.M; ++m) {
    for (std::int64_t n = 0; n < p.N; ++n) {
      std::vector<float> row, column;
      for (std::int64_t k = 0; k < p.K; ++k) {
        row.push_back(av[static_cast<std::size_t>(m * p.K + k)]);
        column.push_back(bv[static_cast<std::size_t>(k * p.N + n)]);
      }
      const float expected = sum_in_parts(core, row, column, has_float8 ? promote_every : 0);
      wrong += std::bit_cast<std::uint32_t>(expected) !=
               std::bit_cast<std::uint32_t>(cv[static_cast<std::size_t>(m * p.N + n)]);
    }
  }
  INFO(name_of(gpu) << ", " << mix.a << " and " << mix.b << ", promoted every " << promote_every);
  CHECK(wrong == 0);
}

TEST_CASE("FP8 emulated: a chip's sums are the simulator's, promoted to FP32 after so many terms") {
  NEEDS_CUDA();
  if (kernels::executor() != kernels::Executor::emulation) SKIP_TEST("a GPU is no emulated chip");
  for (const kernels::Gpu gpu :
       {kernels::Gpu::a100, kernels::Gpu::ada, kernels::Gpu::h100, kernels::Gpu::b200}) {
    for (const Mix& mix : float8_mixes) {
      for (const int promote_every : {0, 32, 128}) check_chip(gpu, mix, promote_every);
    }
  }
  const Tensor x({1, 32}, DType::e4m3, Device::cuda), w({32, 1}, DType::e4m3, Device::cuda);
  const Tensor y({1, 1}, DType::f32, Device::cuda);
  CHECK_SAYS("sums are promoted after 100 terms; give a multiple of 32, or 0 for never",
             kernels::gemm(x.view(), Trans::no, w.view(), Trans::no, y.view(), DType::f32,
                           {.float8 = {.promote_every = 100}}));
}

}  // namespace
}  // namespace tinymp::test
