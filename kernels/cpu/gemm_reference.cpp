#include <kernels/cpu/scratch.h>
#include <kernels/executors.h>
#include <tinymp/numeric/convert.h>
#include <cmath>

/// Matrix multiplication by its definition, without any optimisation: the oracle of cpu/gemm.cpp.
namespace tinymp::kernels::cpu {
namespace {

/// The strides of op(x): element (row, col) lies at row * down + col * right.
struct Strides {
  std::int64_t down, right;
};
Strides strides_of(const View& x, Trans t) {
  return t == Trans::no ? Strides{x.cols(), 1} : Strides{1, x.cols()};
}

/// One step of the chain. The product is exact inside the fma. The sum rounds once to FP32 and, when the
/// accumulator is half, once more to half.
template <class Acc>
Acc fused_multiply_add(float a, float b, Acc sum) {
  return static_cast<Acc>(std::fma(a, b, static_cast<float>(sum)));
}
double fused_multiply_add(double a, double b, double sum) { return std::fma(a, b, sum); }

/// Operands of T, a result of R, both computed on as C.
template <class T, class R, class Acc, class C>
void multiply(const View& a, Strides sa, const View& b, Strides sb, const View& c, std::int64_t K) {
  for (std::int64_t m = 0; m < c.rows(); ++m) {
    for (std::int64_t n = 0; n < c.cols(); ++n) {
      Acc sum{};
      for (std::int64_t k = 0; k < K; ++k) {
        const T x = a.data<T>()[m * sa.down + k * sa.right];
        const T y = b.data<T>()[k * sb.down + n * sb.right];
        sum = fused_multiply_add(static_cast<C>(x), static_cast<C>(y), sum);
      }
      c.data<R>()[m * c.cols() + n] = converted<R>(static_cast<C>(sum));
    }
  }
}

/// x in FP32, which holds every number of FP8.
View widened(const View& x, const Scratch<float>& memory) {
  const View wide{memory.data(), DType::f32, x.device, x.shape};
  cpu::cast(x, wide);
  return wide;
}

}  // namespace

void gemm_reference(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate) {
  const std::int64_t K = ta == Trans::no ? a.cols() : a.rows();
  const Strides sa = strides_of(a, ta), sb = strides_of(b, tb);
  const bool half_sums = accumulate == DType::f16, eight_bits = !has_arithmetic(a.dtype);
  const Scratch<float> wide_a(eight_bits ? a.size() : 0), wide_b(eight_bits ? b.size() : 0);
  visit_dtype(c.dtype, [&]<class T> {
    if constexpr (std::is_same_v<T, double>) return multiply<T, T, double, double>(a, sa, b, sb, c, K);
    if (eight_bits)
      return multiply<float, T, float, float>(widened(a, wide_a), sa, widened(b, wide_b), sb, c, K);
    return half_sums ? multiply<T, T, half, float>(a, sa, b, sb, c, K)
                     : multiply<T, T, float, float>(a, sa, b, sb, c, K);
  });
}

}  // namespace tinymp::kernels::cpu
