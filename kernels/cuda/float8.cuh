#pragma once

#include <kernels/cuda/float8.h>
#include <kernels/cuda/packs.h>
#include <kernels/cuda/ptx.h>
#include <kernels/formulas/float8.h>
#include <tinymp/numeric/rounded.h>

/// FP8: quantise and widen, the largest magnitude, and what follows a product.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// The bits of the smallest magnitude that is rounded to no number of the format.
template <class Y>
constexpr std::uint32_t too_large =
    std::is_same_v<Y, float8_e5m2> ? 0x4770'0000 : 0x43e8'0001;  // 61440, above 464

/// rounded<Y>(x, Rounding::nearest_even, 0, overflow) of two floats. A NaN may have any bits.
template <class Y, Overflow overflow>
__device__ void round_pair(const float (&x)[2], Y (&y)[2]) {
  using Layout = typename Y::Layout;
  const std::uint32_t codes = cvt_satfinite_x2<Y>(x[0], x[1]);
  TINYMP_UNROLL
  for (int k = 0; k < 2; ++k) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(x[k]), magnitude = bits & 0x7fff'ffff;
    const std::uint32_t sign = Layout::has_infinity ? bits >> 31 << 7 : 0;
    std::uint32_t code = codes >> 8 * k & 0xff;
    if (overflow == Overflow::infinity && magnitude >= too_large<Y>) code = sign | Layout::too_large;
    if (magnitude > 0x7f80'0000) code = Layout::nan;
    y[k] = Y::from_bits(static_cast<std::uint8_t>(code));
  }
}

/// To nearest even.
template <class X, class Y, Overflow overflow>
struct QuantizeToNearest {
  const X* x;
  const float* scale;  // nullptr: 1
  Y* y;

  template <int count>
  __device__ void at(std::int64_t pack) const {
    const float by = scale == nullptr ? 1 : *scale;
    const Pack<X, count> in = load_pack<count>(x, pack);
    Pack<Y, count> out;
    TINYMP_UNROLL
    for (int k = 0; k < count; k += 2) {
      float values[2] = {by * wide(in.at[k]), 0};
      if (count > 1) values[1] = by * wide(in.at[k + (count > 1)]);
      Y codes[2];
      round_pair<Y, overflow>(values, codes);
      out.at[k] = codes[0];
      if (count > 1) out.at[k + (count > 1)] = codes[1];
    }
    store_pack(y, pack, out);
  }
  __device__ static float wide(X value) {
    return static_cast<float>(std::bit_cast<typename Native<X>::type>(value));
  }
};

/// In any other rounding.
template <class X, class Y>
struct Quantize {
  const X* x;
  Quantization how;
  const float* scale;  // nullptr: 1
  const double* step;  // nullptr: 0
  Y* y;

  template <int count>
  __device__ void at(std::int64_t pack) const {
    const float by = scale == nullptr ? 1 : *scale;
    const bool draws = how.rounding == Rounding::stochastic;
    const RandomWords words = RandomWords::of(how, draws && step != nullptr ? *step : 0);
    const Pack<X, count> in = load_pack<count>(x, pack);
    Pack<Y, count> out;
    TINYMP_UNROLL
    for (int k = 0; k < count; ++k) {
      const std::uint32_t random = draws ? words.at(pack * count + k) : 0;
      out.at[k] =
          tinymp::rounded<Y>(by * device_converted<float>(in.at[k]), how.rounding, random, how.overflow);
    }
    store_pack(y, pack, out);
  }
};

template <class X, class Y>
struct Widen {
  const X* x;
  Y* y;

  template <int count>
  __device__ void at(std::int64_t pack) const {
    const Pack<X, count> in = load_pack<count>(x, pack);
    Pack<Y, count> out;
    TINYMP_UNROLL
    for (int k = 0; k < count; k += 2) {
      const int next = k + (count > 1);
      const std::uint32_t halves = cvt_to_halves<X>(in.at[k].bits() | std::uint32_t{in.at[next].bits()} << 8);
      out.at[k] = widened(in.at[k], halves);
      if (count > 1) out.at[next] = widened(in.at[next], halves >> 16);
    }
    store_pack(y, pack, out);
  }
  /// A code, and its number as a half in the lower bits.
  __device__ static Y widened(X code, std::uint32_t as_half) {
    const auto number = std::bit_cast<half>(static_cast<std::uint16_t>(as_half));
    if ((code.bits() & 0x7f) >= (X::Layout::has_infinity ? X::Layout::too_large + 1 : X::Layout::nan))
      return std::numeric_limits<Y>::quiet_NaN();
    if constexpr (std::is_same_v<Y, half>)
      return number;
    else
      return device_converted<Y>(static_cast<float>(std::bit_cast<__half>(number)));
  }
};

/// Any format to any other, for casts that no step of a training takes.
__global__ void convert_each(Values x, Values y, std::int64_t n) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const double value = visit_any_dtype(x.dtype, [&]<class X> { return converted<double>(x.as<X>()[i]); });
    visit_any_dtype(y.dtype, [&]<class Y> { y.as<Y>()[i] = converted<Y>(value); });
  }
}

void launch_quantize(const View& x, const Quantization& how, const float* scale, const double* step,
                     const View& y) {
  if (y.size() == 0) return;
  visit_float8(y.dtype, [&]<class Y> {
    visit_dtype(x.dtype, [&]<class X> {
      if constexpr (!std::is_same_v<X, double>) {
        const Packs packs = packs_of(y.size(), {x.memory, y.memory});
        using enum Overflow;
        if (how.rounding != Rounding::nearest_even)
          launch_packs(Quantize<X, Y>{x.data<X>(), how, scale, step, y.data<Y>()}, packs);
        else if (how.overflow == saturate)
          launch_packs(QuantizeToNearest<X, Y, saturate>{x.data<X>(), scale, y.data<Y>()}, packs);
        else
          launch_packs(QuantizeToNearest<X, Y, infinity>{x.data<X>(), scale, y.data<Y>()}, packs);
      }
    });
  });
}

/// The bits of the largest magnitude: those of positive floats are in the order of the floats, and those of -1 are below
/// them as an int.
template <class T>
__global__ void find_largest(const T* x, Packs packs, unsigned of_nan, int* largest) {
  unsigned top = 0;
  const auto look = [&](T value) {
    const unsigned magnitude = magnitude_bits(device_converted<float>(value), of_nan);
    if (magnitude > top) top = magnitude;
  };
  for_packs(
      packs,
      [&](std::int64_t p) {
        const Pack<T> in = load_pack(x, p);
        TINYMP_UNROLL
        for (int k = 0; k < pack_values; ++k) look(in.at[k]);
      },
      [&](std::int64_t i) { look(x[i]); });
  for (unsigned width = 16; width > 0; width /= 2) {
    const unsigned other = __shfl_down_sync(~0u, top, width);
    if (other > top) top = other;
  }
  if (threadIdx.x % 32 == 0) atomicMax(largest, static_cast<int>(top));
}

void launch_find_largest(const View& x, unsigned of_nan, Cell<float> largest) {
  if (x.size() == 0) return;
  visit_dtype(x.dtype, [&]<class T> {
    const Packs packs = packs_of(x.size(), {x.memory});
    launch<find_largest<T>>(blocks_for(packs), block_threads, 0, stream(), x.data<T>(), packs, of_nan,
                            reinterpret_cast<int*>(largest.memory));
  });
}

void set_to_zero(Cell<float> cell) { TINYMP_EXECUTOR::fill({cell.memory, DType::f32, cell.device, {}}, 0); }

__global__ void find_scale(TensorScaling how, float largest, const float* amax, float* scale) {
  *scale = current_scale_of(how, largest, *amax);
}

/// A block for each scale: most of the time goes to its history, which one thread reads.
__global__ void move_delayed(DelayedScales scales) { scales.move(blockIdx.x); }

/// `columns` is a multiple of a pack wherever there are packs, so a pack lies in one row.
template <class T>
struct Finish {
  const float *sums, *scale_a, *scale_b;
  const T* bias;  // nullptr: none
  std::int64_t columns;
  bool relu;
  T* c;

  template <int count>
  __device__ void at(std::int64_t pack) const {
    const ProductFactor factor = product_factor(scale_a, scale_b);
    const Pack<float, count> in = load_pack<count>(sums, pack);
    Pack<T, count> by, out;
    if (bias != nullptr) by = load_pack<count>(bias, pack % (columns / count));
    TINYMP_UNROLL
    for (int k = 0; k < count; ++k) {
      float value = factor.times(in.at[k]);
      if (bias != nullptr) value += device_converted<float>(by.at[k]);
      out.at[k] = device_converted<T>(relu ? Relu::forward(value) : value);
    }
    store_pack(c, pack, out);
  }
};

/// Factor, bias and relu; other functions follow in a kernel of their own.
void launch_finish(const View& sums, const Float8Product& float8, const View& bias, bool relu,
                   const View& c) {
  if (c.size() == 0) return;
  const auto cell = [](const std::optional<Cell<const float>>& scale) {
    return scale ? scale->memory : nullptr;
  };
  visit_dtype(c.dtype, [&]<class T> {
    if constexpr (!std::is_same_v<T, double>) {
      const Packs packs = bias.memory == nullptr
                              ? packs_of(c.size(), {sums.memory, c.memory})
                              : packs_in_rows(c.size(), c.cols(), {sums.memory, bias.memory, c.memory});
      launch_packs(Finish<T>{sums.data<float>(), cell(float8.scale_a), cell(float8.scale_b), bias.data<T>(),
                             c.cols(), relu, c.data<T>()},
                   packs);
    }
  });
}

}  // namespace

void quantize(const View& x, const Quantization& how, const std::optional<Cell<const float>>& scale,
              const View& step, const View& y) {
  expect(x.dtype != DType::f64, "quantize: x is f64; cast() it to f32 first");
  expect(how.rounding != Rounding::up && how.rounding != Rounding::down,
         "quantize: tensors round to nearest even, toward zero or stochastically, not up or down");
  launch_quantize(x, how, scale ? scale->memory : nullptr, step.data<double>(), y);
}

void amax(const View& x, Cell<float> largest) {
  set_to_zero(largest);
  launch_find_largest(x, nan_ignored, largest);
}

void amax_or_nan(const View& x, Cell<float> largest) {
  set_to_zero(largest);
  launch_find_largest(x, nan_wins, largest);
}

void raise_amax(const View& x, Cell<float> largest) { launch_find_largest(x, nan_ignored, largest); }

void current_scale(TensorScaling how, float largest, Cell<const float> amax, Cell<float> scale) {
  launch<find_scale>(1, 1, 0, stream(), how, largest, amax.memory, scale.memory);
}

void move_delayed_scales(const DelayedScaling& policy, const View& amax, const View& history,
                         const View& next, const View& scale) {
  if (amax.size() == 0) return;
  launch<move_delayed>(static_cast<unsigned>(amax.size()), 1, 0, stream(),
                       DelayedScales{policy, amax.data<float>(), history.data<float>(), next.data<double>(),
                                     scale.data<float>()});
}

void cast_float8(const View& x, const View& y) {
  if (y.size() == 0) return;
  const bool from_eight = !has_arithmetic(x.dtype), to_eight = !has_arithmetic(y.dtype);
  if (from_eight == to_eight || x.dtype == DType::f64 || y.dtype == DType::f64) {
    launch<convert_each>(blocks_for(y.size()), block_threads, 0, stream(), values(x), values(y), y.size());
  } else if (to_eight) {
    launch_quantize(x, {.overflow = Overflow::infinity}, nullptr, nullptr, y);
  } else {
    visit_float8(x.dtype, [&]<class X> {
      visit_dtype(y.dtype, [&]<class Y> {
        if constexpr (!std::is_same_v<Y, double>)
          launch_packs(Widen<X, Y>{x.data<X>(), y.data<Y>()}, packs_of(y.size(), {x.memory, y.memory}));
      });
    });
  }
}

void finish_float8(const View& sums, const Epilogue& after, const View& c) {
  const bool relu = after.activation == Unary::relu;
  if (!after.activation || relu) return launch_finish(sums, after.float8, after.bias, relu, c);
  const bool biased = after.bias.memory != nullptr;
  const Scratch<float> memory(biased ? after.bias.size() : 0);
  const View bias{biased ? memory.data() : nullptr, DType::f32, c.device, after.bias.shape};
  if (biased) TINYMP_EXECUTOR::cast(after.bias, bias);
  launch_finish(sums, after.float8, bias, false, sums);
  TINYMP_EXECUTOR::unary(*after.activation, sums, sums);
  TINYMP_EXECUTOR::cast(sums, c);
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
