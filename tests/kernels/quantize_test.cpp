#include <tests/catch.h>
#include <tests/kernels/float8_rig.h>
#include <tests/numeric/sweep.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/numeric/rounded.h>

/// quantize, amax and casts of FP8 on the CPU.
namespace tinymp::test {
namespace {

/// Values of all kinds: numbers of the format, their middles, neighbours of both, and any float.
std::vector<float> kinds_of_values(DType dtype, std::uint64_t seed) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  std::vector<float> values{0,      -0.0f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN(),
                            1e-45f, 3e38f};
  const std::vector<double> numbers = NearestCode(spec_of(dtype)).values();
  for (std::size_t i = 0; i + 1 < numbers.size(); ++i) {
    const auto low = static_cast<float>(numbers[i]), high = static_cast<float>(numbers[i + 1]);
    const float middle = low + (high - low) / 2;
    for (const float x : {low, middle, std::nextafter(low, infinity), std::nextafter(middle, 0.0f),
                          std::nextafter(middle, infinity), low + (high - low) / 3})
      for (const float signed_x : {x, -x}) values.push_back(signed_x);
  }
  Rng rng(seed);
  for (int i = 0; i < 3000; ++i)
    values.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(rng.next_u64())));
  for (int i = 0; i < 3000; ++i)
    values.push_back(std::ldexp(rng.uniform(-2, 2), static_cast<int>(rng.below(40)) - 28));
  return values;
}

/// The code of scale * x as the definitions say, out of double and Rng alone.
unsigned expected_code(DType dtype, float x, float scale, const Quantization& how, std::uint64_t step,
                       std::uint64_t place) {
  const Spec& spec = spec_of(dtype);
  const float scaled = scale * x;
  if (how.rounding == Rounding::nearest_even)
    return NearestCode(spec)(static_cast<double>(scaled), how.overflow);
  if (how.rounding == Rounding::toward_zero) {  // finite numbers stop at the largest one
    const bool saturates = how.overflow == Overflow::saturate || std::isfinite(scaled);
    return drawn_code(spec, scaled, ~0u, saturates ? Overflow::saturate : Overflow::infinity);
  }
  const Rng words = Rng(how.seed).split(step).split(how.tensor);
  return drawn_code(spec, scaled, static_cast<std::uint32_t>(Rng(words.seed(), place).next_u64() >> 32),
                    how.overflow);
}

void check_quantize(DType from, DType to, const Quantization& how, float scale, double step) {
  const std::vector<float> floats = kinds_of_values(to, 7);
  const Tensor x = Tensor::from({static_cast<std::int64_t>(floats.size())}, floats, from);
  const std::vector<float> seen = x.to_floats();
  const DeviceValue<float> by(Device::cpu, scale);
  const Tensor at = Tensor::from({}, std::vector<double>{step}), y(x.shape(), to);
  kernels::quantize(x.view(), how, cell(by), at.view(), y.view());
  Mismatches wrong;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    const unsigned expected = expected_code(to, seen[i], scale, how, static_cast<std::uint64_t>(step), i);
    if (codes_of(y)[i] != expected)
      wrong.add([&] {
        return concat(seen[i], " x ", scale, ": code ", unsigned{codes_of(y)[i]}, ", not ", expected);
      });
  }
  INFO(from << " to " << to << ", rounding " << static_cast<int>(how.rounding) << ", overflow "
            << static_cast<int>(how.overflow));
  CHECK_NONE(wrong);
}

TEST_CASE("quantize is its definition, out of every format in every rounding") {
  for (const DType to : float8_formats) {
    for (const DType from : float8_results) {
      for (const Overflow overflow : {Overflow::infinity, Overflow::saturate}) {
        for (const Rounding rounding : {Rounding::nearest_even, Rounding::toward_zero, Rounding::stochastic})
          for (const float scale : {1.0f, 37.0f})
            check_quantize(from, to, {rounding, overflow, 11, 5}, scale, 3);
      }
    }
  }
}

TEST_CASE("quantize: a number goes up when its random number lies below its distance, not when it is equal") {
  // Between 1 and 1.25 in E5M2 a float has 21 bits of distance: places whose random numbers have no more bits than that.
  const Quantization how{.rounding = Rounding::stochastic, .seed = 2};
  const std::uint64_t words = Rng(2).split(0).split(0).seed();
  const Tensor x({1 << 17}), y(x.shape(), DType::e5m2);
  std::vector<std::int64_t> equal, above;
  for (std::int64_t i = 0; i < x.size(); ++i) {
    const auto random =
        static_cast<std::uint32_t>(Rng(words, static_cast<std::uint64_t>(i)).next_u64() >> 32);
    x.data<float>()[i] = 1;
    if (random % 2048 != 0) continue;
    const bool is_equal = equal.size() == above.size();
    (is_equal ? equal : above).push_back(i);
    x.data<float>()[i] = 1 + static_cast<float>(random / 2048 + (is_equal ? 0 : 1)) * 0x1p-23f;
  }
  REQUIRE(above.size() > 20);
  kernels::quantize(x.view(), how, {}, {}, y.view());
  for (const std::int64_t i : equal) CHECK(unsigned{codes_of(y)[i]} == 0x3c);  // 1
  for (const std::int64_t i : above) CHECK(unsigned{codes_of(y)[i]} == 0x3d);  // 1.25
}

TEST_CASE("quantize: without a scale it is 1, without a step 0, and each step and tensor draws anew") {
  const Tensor x = drawn({5000}, DType::f32, 1, 3);
  const auto drawn_with = [&](const Quantization& how, const View& step) {
    const Tensor y(x.shape(), DType::e5m2);
    kernels::quantize(x.view(), how, {}, step, y.view());
    return y;
  };
  const auto step = [](double at) { return Tensor::from({}, std::vector<double>{at}); };
  const Quantization how{.rounding = Rounding::stochastic, .seed = 4, .tensor = 9};
  const Tensor zero = drawn_with(how, {});
  CHECK(same(zero, drawn_with(how, step(0).view())));
  CHECK_FALSE(same(zero, drawn_with(how, step(1).view())));
  CHECK_FALSE(same(zero, drawn_with({.rounding = Rounding::stochastic, .seed = 4, .tensor = 8}, {})));
  CHECK_FALSE(same(zero, drawn_with({.rounding = Rounding::stochastic, .seed = 5, .tensor = 9}, {})));
  const Tensor nearest = drawn_with({}, {});
  CHECK(same(nearest, Tensor::from(x.shape(), x.to_floats(), DType::e5m2)));
}

TEST_CASE("quantize and amax: any number of threads gives the same bits") {
  const Tensor x = drawn({100'000}, DType::bf16, 1, 3);
  for (const Rounding rounding : {Rounding::nearest_even, Rounding::stochastic}) {
    CHECK(same_for_all_threads([&] {
      const Tensor y(x.shape(), DType::e4m3);
      kernels::quantize(x.view(), {.rounding = rounding}, {}, {}, y.view());
      return y;
    }));
  }
  CHECK(same_for_all_threads([&] {
    const DeviceValue<float> top(Device::cpu, -1);
    kernels::amax(x.view(), top.cell());
    return Tensor::from({}, std::vector<float>{top.read()});
  }));
}

using FindLargest = void (*)(const View& x, Cell<float> largest);

float largest_of(FindLargest find, const std::vector<double>& values, DType dtype) {
  const DeviceValue<float> top(Device::cpu, -1);
  find(from(values, dtype).view(), top.cell());
  return top.read();
}

TEST_CASE("amax: the largest magnitude, NaN ignored, infinity kept") {
  const auto of = [](const std::vector<double>& values, DType dtype) {
    return largest_of(kernels::amax, values, dtype);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    INFO(dtype);
    CHECK(of({}, dtype) == 0);
    CHECK(of({nan, nan}, dtype) == 0);
    CHECK_FALSE(std::signbit(of({-0.0}, dtype)));
    CHECK(of({1, -3, 2}, dtype) == 3);
    CHECK(of({1, nan, -2, -nan}, dtype) == 2);
    CHECK(of({1, -infinity, nan}, dtype) == std::numeric_limits<float>::infinity());
    std::vector<double> many(40'000, 0.5);
    many[39'999] = -4;
    CHECK(of(many, dtype) == 4);
  }
}

TEST_CASE("amax_or_nan: the largest magnitude, or NaN where there is one, with any number of threads") {
  const auto of = [](const std::vector<double>& values, DType dtype) {
    return largest_of(kernels::amax_or_nan, values, dtype);
  };
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    INFO(dtype);
    CHECK(of({}, dtype) == 0);
    CHECK(of({1, -3, 2}, dtype) == 3);
    CHECK(of({1, -infinity}, dtype) == std::numeric_limits<float>::infinity());
    CHECK(std::isnan(of({1, -infinity, -nan}, dtype)));
    std::vector<double> many(40'000, 0.5);
    many[777] = nan;
    CHECK(same_for_all_threads([&] { return Tensor::from({}, std::vector<float>{of(many, dtype)}); }));
    CHECK(std::isnan(of(many, dtype)));
  }
}

TEST_CASE("cast: FP8 to and from every format, rounded once") {
  for (const DType eight : float8_formats) {
    const Spec& spec = spec_of(eight);
    const NearestCode nearest(spec);
    for (const DType other : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
      const Tensor wide({256}, other);
      kernels::cast(all_codes(eight).view(), wide.view());
      for (unsigned code = 0; code < 256; ++code) {
        INFO(eight << " to " << other << ", code " << code);
        REQUIRE(same_bits(wide.to_doubles()[code], value_of_code(spec, code)));
      }
      std::vector<double> values;
      for (const float x : kinds_of_values(eight, 3)) values.push_back(static_cast<double>(x));
      const double above_middle = (nearest.values()[9] + nearest.values()[10]) / 2 * (1 + 0x1p-50);
      values.push_back(above_middle);  // f64 to f32 to FP8 would round twice
      const Tensor x = from(values, other), y(x.shape(), eight);
      kernels::cast(x.view(), y.view());
      const std::vector<double> seen = x.to_doubles();
      for (std::size_t i = 0; i < seen.size(); ++i) {
        INFO(other << " to " << eight << ", " << seen[i]);
        REQUIRE(unsigned{codes_of(y)[i]} == nearest(seen[i], Overflow::infinity));
      }
    }
    for (const DType to : float8_formats) {
      const Tensor y({256}, to);
      kernels::cast(all_codes(eight).view(), y.view());
      for (unsigned code = 0; code < 256; ++code) {
        const double value = value_of_code(spec, code);
        const unsigned expected = to == eight ? code : NearestCode(spec_of(to))(value, Overflow::infinity);
        REQUIRE(unsigned{codes_of(y)[code]} == expected);
      }
    }
  }
}

}  // namespace
}  // namespace tinymp::test
