#include <tinymp/base/isa.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/numeric/convert_f16c.h>
#include <bit>

namespace tinymp {
namespace {

bool use_f16c() { return matches_f16c && f16c::usable(); }

// The bits are the only member of half, which is standard-layout, so these casts are valid.
const std::uint16_t* bits_of(std::span<const half> x) {
  return reinterpret_cast<const std::uint16_t*>(x.data());
}
std::uint16_t* bits_of(std::span<half> x) { return reinterpret_cast<std::uint16_t*>(x.data()); }

/// bfloat16(x) in a form that compilers vectorise well. It adds half a unit of the last bit kept, a little
/// less when that bit is 0, and cuts off the rest. A carry goes into the exponent, as it should. The
/// subnormals are those of float.
std::uint32_t rounded_to_bfloat16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff'0000;
  return (bits & 0x7fff'ffff) > 0x7f80'0000 ? 0x7fc0'0000 : rounded;
}

float widened(std::uint16_t bfloat16_bits) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bfloat16_bits) << 16;
  return std::bit_cast<float>((bits & 0x7fff'ffff) > 0x7f80'0000 ? 0x7fc0'0000 : bits);
}

/// Rounds to T and back.
template <class T>
void round_all(std::span<float> x) {
  std::array<T, 256> block;
  for (std::size_t i = 0; i < x.size(); i += block.size()) {
    const std::span<float> values = x.subspan(i, std::min(block.size(), x.size() - i));
    const std::span<T> narrow(block.data(), values.size());
    convert(values, narrow);
    convert(std::span<const T>(narrow), values);
  }
}

template <>
void round_all<half>(std::span<float> x) {
  if (use_f16c()) return f16c::round_to_halves(x.data(), x.size());
  for (float& value : x) value = static_cast<float>(half(value));
}

template <>
void round_all<bfloat16>(std::span<float> x) {
  on_best_isa([values = x.data(), n = x.size()] {
    for (std::size_t i = 0; i < n; ++i) values[i] = std::bit_cast<float>(rounded_to_bfloat16(values[i]));
  });
}

}  // namespace

namespace detail {

void convert_all(std::span<const float> in, std::span<half> out) {
  if (use_f16c()) return f16c::half_bits_from_floats(in.data(), bits_of(out), in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = half(in[i]);
}

void convert_all(std::span<const half> in, std::span<float> out) {
  if (use_f16c()) return f16c::floats_from_half_bits(bits_of(in), out.data(), in.size());
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = static_cast<float>(in[i]);
}

void convert_all(std::span<const float> in, std::span<bfloat16> out) {
  on_best_isa([from = in.data(), to = out.data(), n = in.size()] {
    for (std::size_t i = 0; i < n; ++i)
      to[i] = bfloat16::from_bits(static_cast<std::uint16_t>(rounded_to_bfloat16(from[i]) >> 16));
  });
}

void convert_all(std::span<const bfloat16> in, std::span<float> out) {
  on_best_isa([from = in.data(), to = out.data(), n = in.size()] {
    for (std::size_t i = 0; i < n; ++i) to[i] = widened(from[i].bits());
  });
}

}  // namespace detail

void round_to(DType format, std::span<float> x) {
  visit_any_dtype(format, [&]<class T> {
    if constexpr (!std::is_floating_point_v<T>) round_all<T>(x);
  });
}

const char* half_conversion() { return use_f16c() ? "F16C instructions" : "half_codec.h"; }

}  // namespace tinymp
