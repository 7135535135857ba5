#pragma once

#include <kernels/cuda/values.h>
#include <kernels/formulas/dropout.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class C>
__global__ void drop(Values x, float p, std::uint64_t seed, const double* step, C factor, Values y,
                     std::int64_t n) {
  const DropoutMask mask(p, seed, *step);
  for (std::int64_t i = first(); i < n; i += stride()) y.set(i, mask.keeps(i) ? factor * x.get<C>(i) : C(0));
}

}  // namespace

void dropout(const View& x, float p, std::uint64_t seed, const View& step, const View& y) {
  if (x.size() == 0) return;
  with_compute_type(x.dtype, [&]<class C> {
    launch<drop<C>>(blocks_for(x.size()), block_threads, 0, stream(), values(x), p, seed, step.data<double>(),
                    static_cast<C>(1 / (1 - static_cast<double>(p))), values(y), x.size());
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
