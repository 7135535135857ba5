#include <lessons/lab/bench/cpu_product.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/numeric/half.h>
#include <cmath>

namespace tinymp::kernels::bench {
namespace {

constexpr int sample_count = 64;
constexpr std::array<DType, 3> formats = {DType::f32, DType::f16, DType::bf16};

std::int64_t scattered(std::int64_t index, std::int64_t seed) {
  return (index * 2654435761 + seed * 40503) >> 7;
}

Tensor operand(std::int64_t rows, std::int64_t cols, std::int64_t seed) {
  Tensor x({rows, cols});
  for (std::int64_t i = 0; i < x.size(); ++i)
    x.data<float>()[i] = static_cast<float>(scattered(i, seed) % 17 - 8) / 8;
  return x;
}

double rounded(DType format, float value) {
  round_to(format, std::span(&value, 1));
  return static_cast<double>(value);
}

}  // namespace

std::string text_of(const ProductShape& shape) {
  const auto matrix = [](int rows, int cols, Trans t) {
    return t == Trans::no ? concat("(", rows, ",", cols, ")") : concat("(", cols, ",", rows, ")^T");
  };
  return matrix(shape.M, shape.K, shape.ta) + " " + matrix(shape.K, shape.N, shape.tb);
}

CpuProduct::CpuProduct(const ProductShape& shape) : shape_(shape) {
  const auto& [name, M, N, K, ta, tb] = shape;
  const Tensor a = ta == Trans::no ? operand(M, K, 1) : operand(K, M, 1);
  const Tensor b = tb == Trans::no ? operand(K, N, 2) : operand(N, K, 2);
  for (std::size_t i = 0; i < formats.size(); ++i) {
    operands_[i] = {Tensor(a.shape(), formats[i]), Tensor(b.shape(), formats[i]), Tensor({M, N}, formats[i])};
    cast(a.view(), operands_[i].a.view());
    cast(b.view(), operands_[i].b.view());
    poison(formats[i]);
  }
}

const CpuProduct::Operands& CpuProduct::in(DType format) const {
  for (std::size_t i = 0; i < formats.size(); ++i)
    if (formats[i] == format) return operands_[i];
  throw Error(concat("no product in ", format, " is measured"));
}

void CpuProduct::poison(DType format) const { fill(c(format).view(), std::nan("")); }

void CpuProduct::multiply(ProductFormat format) const {
  const Operands& x = in(format.values);
  gemm(x.a.view(), shape_.ta, x.b.view(), shape_.tb, x.c.view(), format.sums, {});
}

std::vector<double> CpuProduct::samples(DType format) const {
  const std::vector<double> all = c(format).to_doubles();
  std::vector<double> some;
  for (std::int64_t i = 0; i < sample_count; ++i)
    some.push_back(all[static_cast<std::size_t>(scattered(i, 3)) % all.size()]);
  return some;
}

std::vector<double> CpuProduct::expected(ProductFormat format) const {
  const float* const a = this->a(DType::f32).data<float>();
  const float* const b = this->b(DType::f32).data<float>();
  std::vector<double> some;
  for (std::int64_t i = 0; i < sample_count; ++i) {
    const std::int64_t at = scattered(i, 3) % (std::int64_t{shape_.M} * shape_.N);
    const std::int64_t m = at / shape_.N, n = at % shape_.N;
    float sum = 0;
    for (std::int64_t k = 0; k < shape_.K; ++k) {
      const float left = a[shape_.ta == Trans::no ? m * shape_.K + k : k * shape_.M + m];
      const float right = b[shape_.tb == Trans::no ? k * shape_.N + n : n * shape_.K + k];
      sum = std::fma(left, right, sum);
      if (format.sums == DType::f16) sum = static_cast<float>(half(sum));
    }
    some.push_back(rounded(format.values, sum));
  }
  return some;
}

}  // namespace tinymp::kernels::bench
