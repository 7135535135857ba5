#include <tinymp/base/error.h>
#include <tinymp/base/isa.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/numeric/convert_f16c.h>
#include <tinymp/numeric/drawn_code.h>
#include <tinymp/numeric/e5m2_from_float.h>
#include <tinymp/numeric/quantize.h>

/// small_float_codec.h for the FP8 formats without a branch: compilers make 8 or 16 of them at a time.
namespace tinymp {
namespace {

using detail::drawn_code, detail::finished_code;

/// The code of x, rounded to nearest even: as e5m2_from_float(), for any format. In the last bits of `large` + |x| lies
/// how many times the smallest subnormal goes into |x|: the addition rounds it.
template <class Layout>
TINYMP_INLINE std::uint8_t nearest_code(float x, bool saturates) {
  constexpr int drop = 23 - Layout::fraction_bits;
  constexpr float large = power_of_two(Layout::smallest_exponent - Layout::fraction_bits + 23);
  constexpr std::uint32_t smallest_normal =
      std::bit_cast<std::uint32_t>(power_of_two(Layout::smallest_exponent));
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x), magnitude = bits & 0x7fff'ffff;
  const std::uint32_t steps = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + large) -
                              std::bit_cast<std::uint32_t>(large);
  const std::uint32_t normal = ((magnitude + ((1u << (drop - 1)) - 1) + (magnitude >> drop & 1)) >> drop) -
                               (static_cast<std::uint32_t>(127 - Layout::bias) << Layout::fraction_bits);
  const std::uint32_t is_normal = magnitude < smallest_normal ? 0u : ~0u;
  return finished_code<Layout>((normal & is_normal) | (steps & ~is_normal), bits, saturates);
}

template <Rounding mode, class Layout>
TINYMP_INLINE std::uint8_t code_of(float x, std::uint32_t random, bool saturates) {
  if constexpr (mode == Rounding::nearest_even && std::is_same_v<Layout, float8_e5m2::Layout>)
    return e5m2_from_float(x, saturates ? Overflow::saturate : Overflow::infinity);
  else if constexpr (mode == Rounding::nearest_even)
    return nearest_code<Layout>(x, saturates);
  else
    return drawn_code<Layout, mode == Rounding::stochastic>(x, random, saturates);
}

// The bits are the only member of a small_float, which is standard-layout, so these casts are valid.
template <class T>
const std::uint8_t* bits_of(std::span<const T> x) {
  return reinterpret_cast<const std::uint8_t*>(x.data());
}
template <class T>
std::uint8_t* bits_of(std::span<T> x) {
  return reinterpret_cast<std::uint8_t*>(x.data());
}

template <Rounding mode, class T>
void quantize_all(std::span<const float> x, float scale, bool saturates, RandomWords words,
                  std::int64_t first, std::span<T> out) {
  on_best_isa([from = x.data(), to = bits_of(out), n = static_cast<std::int64_t>(x.size()), scale, saturates,
               words, first] {
    TINYMP_INDEPENDENT_ROUNDS
    for (std::int64_t i = 0; i < n; ++i) {
      const std::uint32_t random = mode == Rounding::stochastic ? words.at(first + i) : 0;
      to[i] = code_of<mode, typename T::Layout>(scale * from[i], random, saturates);
    }
  });
}

template <class T>
void narrow_all(std::span<const float> in, std::span<T> out) {
  quantize_all<Rounding::nearest_even>(in, 1, false, {}, 0, out);
}

/// The half of the code, for FP8 with 5 exponent bits. That of 4 exponent bits is 2^-8 times the number.
template <class Layout>
TINYMP_INLINE std::uint16_t half_bits_of(std::uint8_t code) {
  constexpr int shift = 10 - Layout::fraction_bits;
  const std::uint32_t magnitude = code & Layout::all_ones, sign = std::uint32_t{code} >> 7 << 15;
  const bool is_nan = magnitude > (Layout::has_infinity ? Layout::exponent_ones : Layout::largest);
  return static_cast<std::uint16_t>(is_nan ? 0x7e00u : magnitude << shift | sign);
}

/// By way of halves, which the processor widens. All steps are exact.
template <class T>
void widen_as_halves(const std::uint8_t* from, float* to, std::size_t n) {
  std::array<std::uint16_t, 1024> halves;
  for (std::size_t begin = 0; begin < n; begin += halves.size()) {
    const std::size_t count = std::min(halves.size(), n - begin);
    on_best_isa([codes = from + begin, bits = halves.data(), count] {
      TINYMP_INDEPENDENT_ROUNDS
      for (std::size_t i = 0; i < count; ++i) bits[i] = half_bits_of<typename T::Layout>(codes[i]);
    });
    f16c::floats_from_half_bits(halves.data(), to + begin, count);
    if constexpr (T::Layout::bias != 15) {
      on_best_isa([values = to + begin, count] {
        constexpr float scale = power_of_two(15 - T::Layout::bias);
        TINYMP_INDEPENDENT_ROUNDS
        for (std::size_t i = 0; i < count; ++i) values[i] *= scale;
      });
    }
  }
}

template <class T>
void widen_all(std::span<const T> in, std::span<float> out) {
  if (matches_f16c && f16c::usable()) return widen_as_halves<T>(bits_of(in), out.data(), in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = static_cast<float>(in[i]);
}

}  // namespace

template <class T>
void quantize(std::span<const float> x, float scale, const Quantization& how, RandomWords words,
              std::int64_t first, std::span<T> out) {
  expect(x.size() == out.size(), "quantize: ", x.size(), " values do not fit ", out.size());
  const bool saturates = how.overflow == Overflow::saturate;
  switch (how.rounding) {
    case Rounding::nearest_even:
      return quantize_all<Rounding::nearest_even>(x, scale, saturates, words, first, out);
    case Rounding::toward_zero:
      return quantize_all<Rounding::toward_zero>(x, scale, saturates, words, first, out);
    case Rounding::stochastic:
      return quantize_all<Rounding::stochastic>(x, scale, saturates, words, first, out);
    case Rounding::up:
    case Rounding::down:
      break;
  }
  throw Error("quantize: tensors round to nearest even, toward zero or stochastically, not up or down");
}
template void quantize(std::span<const float>, float, const Quantization&, RandomWords, std::int64_t,
                       std::span<float8_e4m3>);
template void quantize(std::span<const float>, float, const Quantization&, RandomWords, std::int64_t,
                       std::span<float8_e5m2>);

namespace detail {

void convert_all(std::span<const float> in, std::span<float8_e4m3> out) { narrow_all(in, out); }
void convert_all(std::span<const float> in, std::span<float8_e5m2> out) { narrow_all(in, out); }
void convert_all(std::span<const float8_e4m3> in, std::span<float> out) { widen_all(in, out); }
void convert_all(std::span<const float8_e5m2> in, std::span<float> out) { widen_all(in, out); }

}  // namespace detail
}  // namespace tinymp
