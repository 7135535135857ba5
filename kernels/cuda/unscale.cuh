#pragma once

#include <kernels/cuda/last_block.h>
#include <kernels/cuda/packs.h>
#include <kernels/cuda/reduce.h>
#include <kernels/cuda/rows.h>
#include <kernels/formulas/clip.h>

/// What a training step looks for in its gradients: values that are not finite, and their norm. No gradient is changed.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

__global__ void begin_unscale(const ScaleState* scale, std::int64_t size, GradientCounts* found,
                              float* factor) {
  *found = {};
  found->values = size;
  *factor = true_factor(*scale);
}

/// What a thread finds. The bits of a number without its sign are in the order of its size: nothing is converted.
template <class X>
struct Sizes {
  using Bits = std::conditional_t<sizeof(X) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(X) == 4, std::uint32_t, std::uint64_t>>;
  int nonfinite = 0, zeros = 0, below_normal = 0;

  __device__ void look(X v) {
    constexpr Bits all_but_sign = static_cast<Bits>(~Bits{0}) >> 1;
    constexpr Bits infinity = std::bit_cast<Bits>(std::numeric_limits<X>::infinity());
    constexpr Bits normal = std::bit_cast<Bits>(std::numeric_limits<X>::min());
    const Bits size = std::bit_cast<Bits>(v) & all_but_sign;
    nonfinite += size >= infinity;
    zeros += size == 0;
    below_normal += size < normal;
  }
  __device__ void add_to(GradientCounts& found) const {
    add_count(&found.nonfinite, nonfinite);
    add_count(&found.zeros, zeros);
    add_count(&found.subnormals, below_normal - zeros);
  }
};

template <class X>
__global__ void scan(const X* x, Packs packs, GradientCounts* found) {
  Sizes<X> sizes;
  for_packs(
      packs,
      [&](std::int64_t p) {
        const Pack<X> in = load_pack(x, p);
        TINYMP_UNROLL
        for (int k = 0; k < pack_values; ++k) sizes.look(in.at[k]);
      },
      [&](std::int64_t i) { sizes.look(x[i]); });
  sizes.add_to(*found);
}

struct TrueSquare {
  Values x;
  const float* factor;
  __device__ double operator()(std::int64_t i) const {
    const double v = static_cast<double>(x.get<float>(i) * *factor);
    return v * v;
  }
};

struct Clip {
  float max_norm;
  float* factor;
  Values norm;
  __device__ void operator()(double squares) const { norm.set(0, clip_factor(squares, max_norm, *factor)); }
};

/// The cells of a pass that unscales and clips.
struct UnscalePass {
  const ScaleState* scale;
  float max_norm;
  GradientCounts* found;
  float* factor;
  Values norm;
  PassCounts* counts;
};

/// scan(), begin_unscale() and the sum of clip() in one pass; partial[c] = the squares of chunk c, in the order of
/// row_chunks.h. The last block adds the chunks.
template <class X>
__global__ void scan_and_square(const X* x, std::int64_t n, double* partial, UnscalePass pass) {
  const float by = true_factor(*pass.scale);
  const std::int64_t chunks = (n + lane_chunk - 1) / lane_chunk;
  Sizes<X> sizes;
  for_rows(chunks, [&](std::int64_t chunk) {
    const std::int64_t begin = chunk * lane_chunk, end = begin + lane_chunk < n ? begin + lane_chunk : n;
    double squares = 0;
    for (std::int64_t i = begin + BySixteen::lane(); i < end; i += sum_lanes) {
      const X g = x[i];
      const double v = static_cast<double>(device_converted<float>(g) * by);
      sizes.look(g);
      squares += v * v;
    }
    squares = BySixteen::fold(squares);
    if (is_first_of_row()) partial[chunk] = squares;
  });
  sizes.add_to(pass.counts->gradients);
  if (!is_last_block(&pass.counts->blocks, gridDim.x) || threadIdx.x >= row_threads) return;
  const double squares = BySixteen::sum_lanes_of<double>(chunks, [&](std::int64_t c) { return partial[c]; });
  if (threadIdx.x != 0) return;
  *pass.found = pass.counts->gradients;
  pass.found->values = n;
  pass.counts->gradients = {};
  float factor = by;
  pass.norm.set(0, clip_factor(squares, pass.max_norm, factor));
  *pass.factor = factor;
}

}  // namespace

void unscale(const View& gradients, Cell<const ScaleState> scale, Cell<GradientCounts> found,
             Cell<float> factor) {
  const std::int64_t n = gradients.size();
  launch<begin_unscale>(1, 1, 0, stream(), scale.memory, n, found.memory, factor.memory);
  if (n == 0) return;
  visit_dtype(gradients.dtype, [&]<class T> {
    const Packs packs = packs_of(n, {gradients.memory});
    launch<scan<T>>(blocks_for(packs), block_threads, 0, stream(), gradients.data<T>(), packs, found.memory);
  });
}

void clip(const View& x, float max_norm, Cell<float> factor, const View& norm) {
  reduce<double>(TrueSquare{values(x), factor.memory}, x.size(), Clip{max_norm, factor.memory, values(norm)});
}

void unscale_and_clip(const View& gradients, Cell<const ScaleState> scale, float max_norm,
                      Cell<GradientCounts> found, Cell<float> factor, const View& norm,
                      Cell<PassCounts> counts) {
  constexpr std::int64_t enough = std::int64_t{1} << 24;  // sixteen threads add up its 16,384 chunks
  const std::int64_t n = gradients.size(), chunks = (n + lane_chunk - 1) / lane_chunk;
  if (n == 0 || n > enough) {
    unscale(gradients, scale, found, factor);
    clip(gradients, max_norm, factor, norm);
    return;
  }
  const Scratch<double> partial(chunks);
  const UnscalePass pass{scale.memory, max_norm, found.memory, factor.memory, values(norm), counts.memory};
  visit_dtype(gradients.dtype, [&]<class T> {
    launch<scan_and_square<T>>(blocks_for_rows(chunks), block_threads, 0, stream(), gradients.data<T>(), n,
                               partial.data(), pass);
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
