#include <kernels/cpu/block.h>

namespace tinymp::kernels::cpu {

template <class C>
void read(const View& x, std::int64_t begin, std::int64_t n, C* out) {
  const auto count = static_cast<std::size_t>(n);
  visit_any_dtype(x.dtype, [&]<class T> {
    convert(std::span<const T>(x.data<T>() + begin, count), std::span<C>(out, count));
  });
}

template <class C>
void store(const C* values, const View& y, std::int64_t begin, std::int64_t n) {
  if (y.dtype == dtype_of<C>) {
    if (values != y.data<C>() + begin) std::copy(values, values + n, y.data<C>() + begin);
    return;
  }
  const auto count = static_cast<std::size_t>(n);
  visit_any_dtype(y.dtype, [&]<class T> {
    convert(std::span<const C>(values, count), std::span<T>(y.data<T>() + begin, count));
  });
}

template void read(const View&, std::int64_t, std::int64_t, float*);
template void read(const View&, std::int64_t, std::int64_t, double*);
template void store(const float*, const View&, std::int64_t, std::int64_t);
template void store(const double*, const View&, std::int64_t, std::int64_t);

}  // namespace tinymp::kernels::cpu
