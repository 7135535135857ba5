#include <lessons/lab/bench/gemm_case.h>
#include <tinymp/base/error.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/half.h>
#include <algorithm>
#include <cmath>
#include <cstring>

namespace tinymp::kernels::bench {
namespace {

std::size_t size_of(Format format) { return format == Format::f32 ? 4 : 2; }

float rounded(Format format, float x) {
  if (format == Format::f32) return x;
  return format == Format::f16 ? static_cast<float>(half(x)) : static_cast<float>(bfloat16(x));
}

void store(Format format, float x, unsigned char* to) {
  if (format == Format::f32) std::memcpy(to, &x, 4);
  const std::uint16_t bits = format == Format::f16 ? half(x).bits() : bfloat16(x).bits();
  if (format != Format::f32) std::memcpy(to, &bits, 2);
}

float load(Format format, const unsigned char* from) {
  float x = 0;
  std::uint16_t bits = 0;
  if (format == Format::f32) {
    std::memcpy(&x, from, 4);
    return x;
  }
  std::memcpy(&bits, from, 2);
  return format == Format::f16 ? static_cast<float>(half::from_bits(bits))
                               : static_cast<float>(bfloat16::from_bits(bits));
}

/// Half a unit in the last place, as a relative error.
double rounding(Format format) {
  return format == Format::f32 ? 0x1p-24 : format == Format::f16 ? 0x1p-11 : 0x1p-8;
}

int row_length(int cols, const GemmShape& shape) {
  const int unit = std::max(1, shape.row_bytes / static_cast<int>(size_of(shape.format)));
  return (cols + unit - 1) / unit * unit;
}

}  // namespace

std::string text_of(const GemmShape& s) {
  return concat("(", s.M, ",", s.N, ") = (", s.M, ",", s.K, ")", s.ta == Trans::yes ? "^T" : "", " (", s.K,
                ",", s.N, ")", s.tb == Trans::yes ? "^T" : "", ", ", name_of(s.format), " with sums in ",
                name_of(s.sums),
                s.row_bytes == 16 ? "" : concat(", rows at multiples of ", s.row_bytes, " bytes"));
}

bool exact(const GemmShape& shape) {
  // A product of two values has a standard deviation of 2, a sum of K products 2 sqrt(K). Eight times that is
  // 2048 at K = 16384.
  return shape.sums == Sums::f32 || shape.K <= 16384;
}

GemmCase::GemmCase(Executor& executor, const GemmShape& shape, Values values, int gap)
    : executor_(&executor),
      shape_(shape),
      values_(values),
      a_(shape.ta == Trans::no ? draw(shape.M, shape.K, 1) : draw(shape.K, shape.M, 1)),
      b_(shape.tb == Trans::no ? draw(shape.K, shape.N, 2) : draw(shape.N, shape.K, 2)),
      c_bytes_(size_of(shape.format) * static_cast<std::size_t>(shape.M) *
               static_cast<std::size_t>(shape.N + gap)),
      a_memory_(executor, a_.bytes.size()),
      b_memory_(executor, b_.bytes.size()),
      c_memory_(executor, c_bytes_) {
  executor.upload(a_memory_.data(), a_.bytes.data(), a_.bytes.size());
  executor.upload(b_memory_.data(), b_.bytes.data(), b_.bytes.size());
  problem_ = {.M = shape.M,
              .N = shape.N,
              .K = shape.K,
              .a = a_memory_.data(),
              .b = b_memory_.data(),
              .c = c_memory_.data(),
              .lda = a_.ld,
              .ldb = b_.ld,
              .ldc = shape.N + gap,
              .ta = shape.ta,
              .tb = shape.tb,
              .format = shape.format,
              .sums = shape.sums};
}

/// The bytes behind the end of a row are NaN, so that a kernel that reads them gives NaN.
GemmCase::Matrix GemmCase::draw(int rows, int cols, std::uint64_t seed) const {
  const std::size_t size = size_of(shape_.format);
  Matrix x{rows, cols, row_length(cols, shape_), {}};
  x.bytes.assign(size * static_cast<std::size_t>(rows) * static_cast<std::size_t>(x.ld), 0xff);
  Rng rng(seed);
  for (int row = 0; row < rows; ++row) {
    unsigned char* to =
        x.bytes.data() + size * static_cast<std::size_t>(row) * static_cast<std::size_t>(x.ld);
    for (int col = 0; col < cols; ++col, to += size) {
      float value = 0;
      if (values_ == Values::integers) {
        value = static_cast<float>(static_cast<int>(rng.below(5)) - 2);
      } else {
        value = rng.uniform(-1, 1);
      }
      store(shape_.format, value, to);
    }
  }
  return x;
}

float GemmCase::at(const Matrix& x, Trans t, int row, int col) const {
  if (t == Trans::yes) std::swap(row, col);
  const auto element =
      static_cast<std::size_t>(row) * static_cast<std::size_t>(x.ld) + static_cast<std::size_t>(col);
  return load(shape_.format, x.bytes.data() + size_of(shape_.format) * element);
}

void GemmCase::poison() { executor_->fill(c_memory_.data(), 0xff, c_bytes_); }

std::string GemmCase::element_fault(int m, int n, float got) const {
  double sum = 0, magnitude = 0;
  for (int k = 0; k < shape_.K; ++k) {
    const double product =
        static_cast<double>(at(a_, shape_.ta, m, k)) * static_cast<double>(at(b_, shape_.tb, k, n));
    sum += product;
    magnitude += std::fabs(product);
  }
  const float nearest = rounded(shape_.format, static_cast<float>(sum));
  double allowed = 0;
  if (values_ == Values::uniform) {  // tensor cores truncate: up to twice the error of rounding
    const double step = shape_.sums == Sums::f32 ? 0x1p-23 : 0x1p-10;
    const double subnormal = shape_.format == Format::f16 || shape_.sums == Sums::f16 ? 0x1p-24 : 0;
    allowed = shape_.K * (step * magnitude + subnormal) + 2 * rounding(shape_.format) * std::fabs(sum);
  }
  const double error = std::fabs(static_cast<double>(got) - static_cast<double>(nearest));
  if (error <= allowed) return "";  // false for NaN
  return concat("c(", m, ",", n, ") is ", got, ", expected ", nearest, ", allowed ", allowed, " beside it");
}

std::string GemmCase::fault(std::int64_t samples) const {
  const std::size_t size = size_of(shape_.format);
  std::vector<unsigned char> c(c_bytes_);
  executor_->download(c.data(), c_memory_.data(), c.size());
  const auto got = [&](int m, int n) {
    return load(shape_.format,
                c.data() + size * (static_cast<std::size_t>(m) * static_cast<std::size_t>(problem_.ldc) +
                                   static_cast<std::size_t>(n)));
  };
  const std::int64_t elements = std::int64_t{shape_.M} * shape_.N;
  Rng rng(3);
  for (std::int64_t i = 0; i < std::min(samples, elements); ++i) {
    const auto e =
        elements <= samples ? i : static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(elements)));
    const int m = static_cast<int>(e / shape_.N), n = static_cast<int>(e % shape_.N);
    std::string found = element_fault(m, n, got(m, n));
    if (!found.empty()) return found;
  }
  for (int m = 0; m < shape_.M; ++m) {
    for (int n = 0; n < problem_.ldc; ++n) {
      if (n < shape_.N && std::isnan(got(m, n)))
        return concat("c(", m, ",", n, ") is NaN, or was never written");
      if (n >= shape_.N && !std::isnan(got(m, n)))
        return concat("something was written behind row ", m, " of c");
    }
  }
  return "";
}

}  // namespace tinymp::kernels::bench
