#include <fmt/format.h>
#include <kernels/numerics/accumulate.h>
#include <kernels/numerics/tensor_core.h>
#include <lessons/03_accumulation/questions.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/half.h>
#include <cmath>

namespace tinymp::lab {
namespace {

constexpr Accumulation f32{}, f16{.format = DType::f16}, chunks{.format = DType::f16, .chunk = 64};

float sum_of(const std::vector<float>& values, const Accumulation& how) {
  const std::vector<float> ones(values.size(), 1.0f);
  return kernels::dot(values.data(), ones.data(), std::ssize(values), how);
}

/// The sum of twelve U(0,1) less 6 has mean 0 and variance 1, and is all but normal.
float nearly_normal(Rng& rng) {
  float sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.uniform(0, 1);
  return sum;
}

/// `draws` pairs of K numbers, rounded to half before anything else happens.
DotErrors errors_of(std::size_t K, bool normal) {
  constexpr std::uint64_t draws = 8;
  const kernels::TensorCore h100 = kernels::tensor_core(kernels::Gpu::h100, kernels::Operand::e4m3);
  DotErrors errors;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    Rng rng(seed);
    std::vector<float> a(K), b(K), a8(K), b8(K);
    double exact = 0, magnitude = 0, exact8 = 0, magnitude8 = 0;
    for (std::size_t k = 0; k < K; ++k) {
      const float first = normal ? nearly_normal(rng) : rng.uniform(0, 1);
      const float second = normal ? nearly_normal(rng) : rng.uniform(0, 1);
      a[k] = static_cast<float>(half(first));
      b[k] = static_cast<float>(half(second));
      a8[k] = kernels::round_to(kernels::Operand::e4m3, first);
      b8[k] = kernels::round_to(kernels::Operand::e4m3, second);
      const double product = static_cast<double>(a[k]) * static_cast<double>(b[k]);
      const double product8 = static_cast<double>(a8[k]) * static_cast<double>(b8[k]);
      exact += product;
      magnitude += std::fabs(product);
      exact8 += product8;
      magnitude8 += std::fabs(product8);
    }
    const auto n = static_cast<std::int64_t>(K);
    const auto error = [&](const Accumulation& how) {
      return std::fabs(static_cast<double>(kernels::dot(a.data(), b.data(), n, how)) - exact) / magnitude;
    };
    errors.f32.push_back(error(f32));
    errors.f16.push_back(error(f16));
    errors.chunks.push_back(error(chunks));
    const auto of_core = static_cast<double>(kernels::tensor_core_dot(h100, a8.data(), b8.data(), n, 0));
    errors.fp8.push_back(std::fabs(of_core - exact8) / magnitude8);
  }
  return errors;
}

/// "50 %", "0.00025 %"
std::string percent(const std::vector<double>& errors) { return fmt::format("{:.2g} %", 100 * mean(errors)); }

}  // namespace

void show_sums(Lab& lab) {
  lab.say("sum of                        FP32        FP16   FP16 in chunks of 64       exactly");
  const auto row = [&](const char* what, std::size_t count, float value) {
    const std::vector<float> values(count, static_cast<float>(half(value)));
    const double exact = static_cast<double>(values.front()) * static_cast<double>(count);
    lab.say(fmt::format("{:<22} {:>11.8g} {:>11.8g} {:>22.8g} {:>13.8g}", what, sum_of(values, f32),
                        sum_of(values, f16), sum_of(values, chunks), exact));
  };
  row("5,000 ones", 5000, 1);
  row("60,000 times 0.1", 60000, 0.1f);
  row("4,096 losses of 2.3", 4096, 2.3f);
}

DotErrors show_dot_products(Lab& lab) {
  DotErrors at_16384;
  for (const bool normal : {false, true}) {
    lab.say(fmt::format("\nDot products of numbers from {}: mean error, in % of the sum of all |a b|",
                        normal ? "N(0,1), where signs cancel" : "U(0,1)"));
    lab.say("      K        FP32        FP16   FP16 in chunks of 64   H100, FP8 (e4m3)");
    for (const std::size_t K : {256u, 1024u, 4096u, 16384u, 65536u}) {
      if (lab.options().smoke && K > 16384) continue;
      const DotErrors errors = errors_of(K, normal);
      lab.say(fmt::format("{:>7} {:>11} {:>11} {:>22} {:>18}", K, percent(errors.f32), percent(errors.f16),
                          percent(errors.chunks), percent(errors.fp8)));
      if (K == 16384 && !normal) at_16384 = errors;
    }
  }
  return at_16384;
}

void claim_dot_products(Lab& lab, const DotErrors& errors) {
  const double f16 = 100 * smallest(errors.f16), f32 = largest(errors.f32),
               chunked = 100 * largest(errors.chunks);
  lab.claim(f16 >= 40, fmt::format("U(0,1), K = 16384: FP16 is off by {:.1f} % or more (40 asked)", f16),
            Lab::Judged::in_smoke_too);
  lab.claim(f32 <= 1e-5, fmt::format("... FP32 by at most {:.2g} (1e-5 allowed)", f32),
            Lab::Judged::in_smoke_too);
  lab.claim(chunked <= 0.5,
            fmt::format("... FP16 in chunks of 64 by at most {:.2g} % (0.5 allowed)", chunked),
            Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
