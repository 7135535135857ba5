#include <kernels/cpu/block.h>
#include <kernels/executors.h>

namespace tinymp::kernels::cpu {

void copy_columns(const View& x, std::int64_t from, const View& y, std::int64_t to, std::int64_t count) {
  if (count == 0) return;
  visit_dtype(x.dtype, [&]<class T> {
    parallel_for(x.rows(), std::max<std::int64_t>(1, grain / count),
                 [&](std::int64_t first, std::int64_t last) {
                   for (std::int64_t b = first; b < last; ++b)
                     std::copy_n(x.data<T>() + b * x.cols() + from, count, y.data<T>() + b * y.cols() + to);
                 });
  });
}

}  // namespace tinymp::kernels::cpu
