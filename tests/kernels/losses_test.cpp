#include <kernels/formulas/softmax.h>
#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <limits>

/// The loops of the CPU, which look at many logits at once, against the definition value by value
/// (formulas/softmax.h: what the GPU runs), bit for bit.
namespace tinymp::test {
namespace {

constexpr std::int64_t lengths[] = {1, 10, 63, 64, 65, 100, 1100};

/// Is log sum exp of each row of x that of the definition?
template <class C>
void check_log_sums(const Tensor& x) {
  const std::int64_t rows = x.shape()[0], columns = x.shape()[1];
  const Tensor tops({rows}, dtype_of<C>), log_sums({rows}, dtype_of<C>), loss(Shape{}, dtype_of<C>);
  const std::vector<std::int32_t> labels(static_cast<std::size_t>(rows), 0);
  kernels::cross_entropy(x.view(), labels, tops.view(), log_sums.view(), loss.view());
  const std::vector<double> values = x.to_doubles(), got_tops = tops.to_doubles(),
                            got = log_sums.to_doubles();
  for (std::int64_t b = 0; b < rows; ++b) {
    std::vector<C> row;
    for (std::int64_t c = 0; c < columns; ++c)
      row.push_back(static_cast<C>(values[static_cast<std::size_t>(b * columns + c)]));
    const kernels::LogSumExp<C> exact = kernels::log_sum_exp<C>(row.data(), columns);
    INFO(x.dtype() << x.shape() << ", row " << b << ": " << got[static_cast<std::size_t>(b)]
                   << ", by the definition " << exact.rest);
    REQUIRE(same_bits(got_tops[static_cast<std::size_t>(b)], static_cast<double>(exact.top)));
    REQUIRE(same_bits(got[static_cast<std::size_t>(b)], static_cast<double>(exact.rest)));
  }
}

void check_log_sums(const Tensor& x) {
  if (x.dtype() == DType::f64) return check_log_sums<double>(x);
  check_log_sums<float>(x);
}

TEST_CASE("cross_entropy: log sum exp of rows has the bits of its definition") {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    for (const std::int64_t columns : lengths) {
      for (const std::int64_t rows : {1, 7, 8, 9, 130}) check_log_sums(drawn({rows, columns}, dtype, 5, 9));
    }
  }
}

TEST_CASE("cross_entropy: an infinity or a NaN in any place of a row, as by the definition") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const std::int64_t columns : lengths) {
    for (const double bad : {infinity, -infinity, std::nan("")}) {
      std::vector<double> values = drawn({columns, columns}, DType::f32, 6).to_doubles();
      for (std::int64_t c = 0; c < columns; ++c) values[static_cast<std::size_t>(c * columns + c)] = bad;
      check_log_sums(from(values, DType::f32).viewed_as({columns, columns}));
    }
  }
}

TEST_CASE("cross_entropy of long rows has the same bits for any number of threads") {
  const Tensor x = drawn({37, 8192}, DType::f16, 7, 9);
  const std::vector<std::int32_t> labels(37, 5);
  CHECK(same_for_all_threads([&] {
    const Tensor tops({37}), log_sums({37}), loss(Shape{}), one = from({1}, DType::f32),
                                                            dx({37, 8192}, DType::f16);
    kernels::cross_entropy(x.view(), labels, tops.view(), log_sums.view(), loss.view());
    kernels::cross_entropy_backward(x.view(), labels, tops.view(), log_sums.view(), one.view(), dx.view());
    return dx;
  }));
}

}  // namespace
}  // namespace tinymp::test
