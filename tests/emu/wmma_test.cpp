#include <tests/emu/rig.h>
#include <tinymp/base/rng.h>
#include <bit>
#include <cmath>
#include <limits>

// d = a . b + c for one tile, in every layout and format, against sums in double.
namespace tinymp::test {
namespace {

using namespace nvcuda;

template <class Layout>
constexpr bool by_rows = std::is_same_v<Layout, wmma::row_major>;

/// Tiles lie in larger matrices: strides of 24, 32 and 20 for a, b, c and d.
template <class T, class Sum, class LayoutA, class LayoutB, bool rows>
__global__ void one_tile(const T* a, const T* b, const Sum* c, Sum* d, int times) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, LayoutA> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, LayoutB> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sums;
  const auto layout = rows ? wmma::mem_row_major : wmma::mem_col_major;
  wmma::load_matrix_sync(left, a, 24);
  wmma::load_matrix_sync(right, b, 32);
  wmma::load_matrix_sync(sums, c, 24, layout);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = sums.x[i] + sums.x[i];  // to each element the same
  for (int i = 0; i < times; ++i) wmma::mma_sync(sums, left, right, sums);
  wmma::store_matrix_sync(d, sums, 40, layout);
}

template <class T>
std::vector<T> small_integers(std::size_t size, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<T> x;
  for (std::size_t i = 0; i < size; ++i) {
    const int value = static_cast<int>(rng.below(7)) - 3;
    x.push_back(static_cast<T>(static_cast<float>(value)));
  }
  return x;
}

template <class T, class Sum, class LayoutA, class LayoutB, bool rows>
void check_tile() {
  const Array<T> a(small_integers<T>(16 * 24, 1)), b(small_integers<T>(16 * 32, 2));
  const Array<Sum> c(small_integers<Sum>(16 * 24, 3));
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    const Array<Sum> d(16 * 40);
    launch<one_tile<T, Sum, LayoutA, LayoutB, rows>>(1, 32, 0, nullptr, a.data(), b.data(), c.data(),
                                                     d.data(), 2);
    const auto at = [](const auto& x, int row, int col, int stride, bool by_row) {
      return static_cast<double>(
          static_cast<float>(x.data()[by_row ? row * stride + col : col * stride + row]));
    };
    for (int m = 0; m < 16; ++m) {
      for (int n = 0; n < 16; ++n) {
        double sum = 2 * at(c, m, n, 24, rows);
        for (int k = 0; k < 16; ++k)
          sum += 2 * at(a, m, k, 24, by_rows<LayoutA>) * at(b, k, n, 32, by_rows<LayoutB>);
        INFO("element " << m << ", " << n << " in order " << name_of(order));
        REQUIRE(at(d, m, n, 40, rows) == sum);  // small integers: nothing is rounded
      }
    }
    for (int beside = 16; beside < 40; ++beside) REQUIRE(std::isnan(at(d, 15, beside, 40, true)));
  }
}

template <class T, class Sum>
void check_layouts() {
  check_tile<T, Sum, wmma::row_major, wmma::row_major, true>();
  check_tile<T, Sum, wmma::row_major, wmma::col_major, false>();
  check_tile<T, Sum, wmma::col_major, wmma::row_major, true>();
  check_tile<T, Sum, wmma::col_major, wmma::col_major, false>();
}

TEST_CASE("wmma: FP16 with sums in FP32") { check_layouts<__half, float>(); }
TEST_CASE("wmma: FP16 with sums in FP16") { check_layouts<__half, __half>(); }
TEST_CASE("wmma: BF16 with sums in FP32") { check_layouts<__nv_bfloat16, float>(); }

/// Row 0 of a times column 0 of b.
template <class Sum>
float dot(const std::vector<float>& a, const std::vector<float>& b, float c) {
  std::vector<__half> left(16 * 24, __half(0.0f)), right(16 * 32, __half(0.0f));
  for (std::size_t k = 0; k < a.size(); ++k) {
    left[k] = __half(a[k]);
    right[k * 32] = __half(b[k]);
  }
  std::vector<Sum> sums(16 * 24, static_cast<Sum>(0.0f));
  sums[0] = static_cast<Sum>(c / 2);
  const Array<__half> x(left), y(right);
  const Array<Sum> z(sums), d(16 * 40);
  launch<one_tile<__half, Sum, wmma::row_major, wmma::row_major, true>>(1, 32, 0, nullptr, x.data(), y.data(),
                                                                        z.data(), d.data(), 1);
  return static_cast<float>(d.data()[0]);
}

TEST_CASE("wmma: the sum is a chain in FP32 that starts with the accumulator, rounded once to FP16") {
  const std::vector<float> ones(16, 1.0f);
  CHECK(dot<float>({1}, {0x1p-20f}, 0x1p10f) == 0x1p10f);  // 1024 + 2^-20: lost in FP32
  CHECK(dot<float>({0x1p-20f}, {1}, 0) == 0x1p-20f);
  CHECK(dot<float>({60000, 60000, -60000}, ones, 0) == 60000.0f);  // beyond 65504 on the way
  CHECK(dot<__half>({60000, 60000, -60000}, ones, 0) == 60000.0f);
  CHECK(std::isinf(dot<__half>({60000, 60000}, ones, 0)));
  CHECK(dot<__half>({1, 1, 1}, ones, 2048) == 2052.0f);  // 2051 is a tie: to the even neighbour
  CHECK(dot<__half>({1}, ones, 2048) == 2048.0f);
  CHECK(std::isnan(dot<float>({std::numeric_limits<float>::infinity()}, {0}, 0)));
}

template <class Sum>
__global__ void store_what_nobody_set(Sum* d) {
  const wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sums;
  wmma::store_matrix_sync(d, sums, 16, wmma::mem_row_major);
}

TEST_CASE("wmma: sums that nobody has set are NaN") {
  const Array<float> wide(std::vector<float>(256, 1.0f));
  const Array<__half> narrow(std::vector<__half>(256, __half(1.0f)));
  launch<store_what_nobody_set<float>>(1, 32, 0, nullptr, wide.data());
  launch<store_what_nobody_set<__half>>(1, 32, 0, nullptr, narrow.data());
  for (int i = 0; i < 256; ++i) CHECK((std::isnan(wide.data()[i]) && isnan(narrow.data()[i])));
}

}  // namespace
}  // namespace tinymp::test
