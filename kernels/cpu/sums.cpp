#include <kernels/cpu/column_sums.h>
#include <kernels/cpu/reduce.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {

void sum(const View& x, double divisor, const View& y) {
  with_compute_type(x.dtype, [&]<class C> {
    const C total = sum_of_chunks<C>(x.size(), [&](std::int64_t begin, std::int64_t n) {
      Block<C> in;
      return lane_sum<C>(n, [values = load(x, begin, n, in)](std::int64_t i) { return values[i]; });
    });
    *y.data<C>() = total / static_cast<C>(divisor);
  });
}

void column_sums(const View& x, const View& y) {
  with_compute_type(x.dtype, [&]<class C> {
    const Scratch<C> sums(x.cols());
    sum_columns<C, 1>(x, {}, [&](const Strip& strip) { return EachValue<C>{x, strip, {}}; }, {sums.data()});
    store<C>(sums.data(), y, 0, x.cols());
  });
}

}  // namespace tinymp::kernels::cpu
