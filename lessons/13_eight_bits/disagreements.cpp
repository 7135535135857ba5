#include <fmt/format.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <tinymp/base/rng.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/numeric/exp_log.h>
#include <tinymp/numeric/float8_e8m0.h>
#include <tinymp/numeric/rounded.h>
#include <tinymp/numeric/tensor_scaling.h>
#include <bit>
#include <cmath>
#include <limits>

// Libraries for FP8 differ in what they do at the edges. Each row computes what two of them do.
namespace tinymp::lab {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float largest_normal = std::numeric_limits<float>::max();

/// torchao: 2^floor(log2 x), with log2 in FP32, where that of the largest number is 128.
double power_by_logarithm(float x) {
  const auto log2 = static_cast<float>(tinymp::log(static_cast<double>(x)) / tinymp::log(2.0));
  const float power = std::ldexp(1.0f, static_cast<int>(std::floor(log2)));
  return static_cast<double>(power);
}
/// Transformer Engine: the exponent's bits alone.
double power_by_mask(float x) {
  return static_cast<double>(std::bit_cast<float>(std::bit_cast<std::uint32_t>(x) & 0xff80'0000));
}

/// E5M2 with ties away from zero, as microxcaling rounds by default.
float away_from_zero(float x) {
  const float down = static_cast<float>(rounded<float8_e5m2>(x, Rounding::toward_zero)),
              up = std::bit_cast<float>(std::bit_cast<std::uint32_t>(down) + (1u << 21));
  return x - down < up - x ? down : up;
}

struct Conversions {
  int ties = 0, by_half = 0, all = 0;
};
/// Among the FP16 numbers: those that go elsewhere with ties away from zero. Among random floats: those that a detour by
/// FP16 brings elsewhere.
Conversions count_conversions() {
  Conversions found;
  for (std::uint16_t bits = 0x0400; bits < 0x7b00; ++bits) {  // normal, and below the largest
    const auto x = static_cast<float>(half::from_bits(bits));
    found.ties += away_from_zero(x) != static_cast<float>(float8_e5m2(x, Overflow::infinity));
  }
  Rng rng(5);
  for (; found.all < 1'000'000; ++found.all) {
    const float x = std::ldexp(rng.uniform(1, 2), static_cast<int>(rng.below(30)) - 14);
    const float8_e5m2 direct(x, Overflow::infinity),
        twice(static_cast<float>(half(x)), Overflow::infinity);
    found.by_half += direct.bits() != twice.bits();
  }
  return found;
}

/// Of a tensor's values the share that is not 0, but becomes 0 in E4M3 when its amax counts as `floor` or more (%).
double flushed(const std::vector<float>& values, double floor) {
  double amax = 0;
  for (const float x : values) amax = std::max(amax, std::abs(static_cast<double>(x)));
  const double scale = 448 / std::max(amax, floor);
  int lost = 0, all = 0;
  for (const float x : values) {
    const auto scaled = static_cast<float>(static_cast<double>(x) * scale);
    all += x != 0;
    lost += x != 0 && static_cast<float>(float8_e4m3(scaled, Overflow::saturate)) == 0;
  }
  return 100 * static_cast<double>(lost) / static_cast<double>(all);
}

/// What backward leaves for the first layer of a new autoencoder.
std::vector<float> small_gradient(Lab& lab) {
  Rng rng(lab.options().first_seed);
  const nn::Autoencoder model({lab.data().train.shape.size(), 64, 32, 64, lab.data().train.shape.size()},
                              recipes::fp32, rng);
  const data::Batch batch = data::Loader(lab.data().train, 256, lab.options().first_seed).next();
  Tape tape;
  tape.backward(train::loss_of(train::Task::reconstruct, model, batch));
  return model.parameters().front().value.grad().to_floats();
}

std::string shown(double x) { return std::isinf(x) ? "infinity" : fmt::format("{:.4g}", x); }

}  // namespace

void show_disagreements(Lab& lab) {
  const auto row = [&](const std::string& what, const std::string& one, const std::string& other) {
    lab.say(fmt::format("  {:<38} {:<20} {}", what, one, other));
  };
  const auto e4m3 = [](float x, Overflow overflow) {
    const auto y = static_cast<double>(static_cast<float>(float8_e4m3(x, overflow)));
    return std::isnan(y) ? std::string("NaN") : shown(y);
  };
  lab.say("\nThe same input, two answers");
  row("power of two below the largest float", "torchao " + shown(power_by_logarithm(largest_normal)),
      "TE " + shown(power_by_mask(largest_normal)));
  row("scale of a tensor with an infinity",
      "torchao " + shown(static_cast<double>(torchao_current_scale(infinity, 448))),
      "TE " + shown(static_cast<double>(te_current_scale(infinity, 448))));
  row("scale of a tensor of zeros", "torchao " + shown(static_cast<double>(torchao_current_scale(0, 448))),
      "TE " + shown(static_cast<double>(te_current_scale(0, 448))));
  row("E8M0 of infinity", "torchao 0xff",
      fmt::format("CUDA {:#04x}", e8m0_rounded_up(infinity).bits()));
  row("500 in E4M3", "ml_dtypes " + e4m3(500, Overflow::infinity), "CUDA " + e4m3(500, Overflow::saturate));
  row("infinity in E4M3", "ml_dtypes " + e4m3(infinity, Overflow::infinity),
      "CUDA " + e4m3(infinity, Overflow::saturate));
  row("1.125 in E5M2, to nearest", fmt::format("microxcaling {}", away_from_zero(1.125f)),
      fmt::format("others {}", static_cast<float>(float8_e5m2(1.125f, Overflow::infinity))));

  const Conversions found = count_conversions();
  lab.say(fmt::format("\nTies away from zero move {} of {} positive FP16 numbers elsewhere in E5M2.", found.ties, 0x7b00 - 0x0400));
  lab.say(fmt::format("The detour by FP16 moves {} of {} random floats elsewhere.", found.by_half, found.all));
  lab.number("floats moved by a detour (%)", 100.0 * found.by_half / found.all);

  const std::vector<float> gradient = small_gradient(lab);
  double amax = 0;
  for (const float x : gradient) amax = std::max(amax, std::abs(static_cast<double>(x)));
  lab.say(fmt::format("\nA gradient in E4M3, its scale from an amax of at least 1e-4 or 1e-12"));
  lab.say("         amax   becomes 0 with 1e-4 (%)   with 1e-12 (%)");
  for (int divisor = 1; divisor <= 1000; divisor *= 10) {
    std::vector<float> smaller;
    for (const float x : gradient) smaller.push_back(x / static_cast<float>(divisor));
    const double high = flushed(smaller, 1e-4), low = flushed(smaller, 1e-12);
    lab.say(fmt::format("  {:>11.2g} {:>25} {:>16}", amax / divisor, fixed(high, 1), fixed(low, 1)));
    lab.number(fmt::format("amax / {}: flushed with a floor of 1e-4 (%)", divisor), high);
    lab.number(fmt::format("amax / {}: flushed with a floor of 1e-12 (%)", divisor), low);
  }
}

}  // namespace tinymp::lab
