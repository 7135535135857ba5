#include <kernels/cpu/block.h>
#include <kernels/executors.h>
#include <kernels/formulas/dropout.h>

namespace tinymp::kernels::cpu {

void dropout(const View& x, float p, std::uint64_t seed, const View& step, const View& y) {
  const DropoutMask mask(p, seed, *step.data<double>());
  with_compute_type(x.dtype, [&]<class C> {
    const C factor = static_cast<C>(1 / (1 - static_cast<double>(p)));
    for_blocks<C>(
        x.size(),
        [&](std::int64_t begin, std::int64_t n) {
          Block<C> in, out;
          const C* from = load(x, begin, n, in);
          C* to = target(y, begin, out);
          for_each_value<C>(n,
                            [=](std::int64_t i) { to[i] = mask.keeps(begin + i) ? factor * from[i] : C(0); });
          store<C>(to, y, begin, n);
        },
        x, y);
  });
}

}  // namespace tinymp::kernels::cpu
