#pragma once

#include <kernels/cuda/packs.h>
#include <kernels/formulas/dropout.h>

namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class T>
struct Drop {
  using C = ComputeType<T>;
  const T* x;
  float p;
  std::uint64_t seed;
  const double* step;
  C factor;
  T* y;

  template <int count>
  __device__ void at(std::int64_t pack) const {
    const DropoutMask mask(p, seed, *step);
    const Pack<T, count> in = load_pack<count>(x, pack);
    Pack<T, count> out;
    TINYMP_UNROLL
    for (int k = 0; k < count; ++k) {
      const bool keeps = mask.keeps(pack * count + k);
      out.at[k] = device_converted<T>(keeps ? factor * device_converted<C>(in.at[k]) : C(0));
    }
    store_pack(y, pack, out);
  }
};

}  // namespace

void dropout(const View& x, float p, std::uint64_t seed, const View& step, const View& y) {
  if (x.size() == 0) return;
  visit_dtype(x.dtype, [&]<class T> {
    const auto factor = static_cast<ComputeType<T>>(1 / (1 - static_cast<double>(p)));
    launch_packs(Drop<T>{x.data<T>(), p, seed, step.data<double>(), factor, y.data<T>()},
                 packs_of(x.size(), {x.memory, y.memory}));
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
