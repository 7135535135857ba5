#include <tests/ops/check_forward.h>
#include <map>
#include <sstream>

/// Every op on 2000 random inputs, against long double, within the table of op_cases.h: of random shapes, or of
/// those of its entry but for long ones, each of which forward_test.cpp sees once.
namespace tinymp::test {
namespace {

constexpr int cases = 2000;

/// Sizes from 1 on, small ones more often; one in twenty is long. An image is at least as large as a window.
class Sizes {
 public:
  explicit Sizes(Rng& rng) : rng_(rng) {}

  std::vector<Shape> of(const std::string& dims) {
    std::map<char, std::int64_t> sizes;
    const bool images = dims.find('H') != std::string::npos;
    const bool is_long = !images && rng_.below(20) == 0;
    const char longest = dims[rng_.below(2)];
    std::vector<Shape> shapes;
    std::istringstream inputs(dims);
    for (std::string input; inputs >> input;) {
      std::vector<std::int64_t> shape;
      for (const char letter : input) {
        if (!sizes.contains(letter)) sizes[letter] = one(letter, is_long && letter == longest, images);
        shape.push_back(sizes[letter]);
      }
      shapes.emplace_back(shape);
    }
    return shapes;
  }

 private:
  std::int64_t one(char letter, bool is_long, bool images) {
    const auto below = [&](std::uint64_t n) { return static_cast<std::int64_t>(rng_.below(n)); };
    if (letter == 'h' || letter == 'w') return 1 + below(3);
    if (letter == 'H' || letter == 'W') return 3 + below(5);
    if (letter == 'B' && images) return 2 + below(3);
    if (is_long) return 200 + below(2000);
    return (letter == 'B' ? 2 : 1) + below(1 + rng_.below(images ? 9 : 24));
  }
  Rng& rng_;
};

std::vector<std::vector<Shape>> short_ones(const std::vector<std::vector<Shape>>& all) {
  const auto is_short = [](const std::vector<Shape>& shapes) {
    return std::ranges::all_of(shapes, [](const Shape& shape) {
      for (int i = 0; i < shape.rank(); ++i)
        if (shape[i] > 100) return false;
      return true;
    });
  };
  std::vector<std::vector<Shape>> found;
  std::ranges::copy_if(all, std::back_inserter(found), is_short);
  return found;
}

long double scale_of(const Exact& exact, long double largest) {
  return exact.terms > 0 ? exact.terms : largest;
}

/// How far y is off at worst, in the units of the table, beyond the rounding to its format.
long double worst_of(const Tensor& y, const std::vector<Exact>& exact, DType in) {
  long double largest = 0, worst = 0;
  for (const Exact& e : exact) largest = std::max(largest, std::fabs(e.value));
  const std::vector<double> got = y.to_doubles();
  for (std::size_t i = 0; i < got.size(); ++i) {
    const long double rounding =
        static_cast<long double>(spacing(y.dtype(), rounded_to(y.dtype(), exact[i].value))) / 2;
    const long double off = std::fabs(static_cast<long double>(got[i]) - exact[i].value) - rounding;
    if (std::isnan(off)) return HUGE_VALL;
    if (off > 0)
      worst =
          std::max(worst, off / (scale_of(exact[i], largest) * static_cast<long double>(unit_roundoff(in))));
  }
  return worst;
}

bool all_exact(const Tensor& y, const std::vector<Exact>& exact) {
  const std::vector<double> got = y.to_doubles();
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (!same_bits(got[i], rounded_to(y.dtype(), exact[i].value))) return false;
  }
  return true;
}

void check(const OpCase& op, const RandomCases& row) {
  Rng rng(16);
  Sizes sizes(rng);
  constexpr DType formats[] = {DType::f32, DType::f16, DType::f32, DType::bf16, DType::f64};
  const std::vector<std::vector<Shape>> of_entry = short_ones(op.shapes);
  long double worst = 0;
  for (int n = 0; n < cases; ++n) {
    const DType dtype = formats[n % 5];
    const std::vector<Shape> shapes =
        row.dims.empty() ? of_entry[static_cast<std::size_t>(n) % of_entry.size()] : sizes.of(row.dims);
    const std::vector<Tensor> inputs =
        inputs_of(op, shapes, dtype, Device::cpu, 1 + static_cast<std::uint64_t>(n));
    const Tensor y = op.call(inputs);
    const std::vector<Exact> exact = op.oracle(as_oracle_inputs(inputs));
    INFO(op.name << " of " << dtype << shapes[0] << ", case " << n);
    REQUIRE(y.size() == static_cast<std::int64_t>(exact.size()));
    if (row.margin == 0) {
      REQUIRE(all_exact(y, exact));
      continue;
    }
    const long double off = worst_of(y, exact, dtype);
    CHECK(off <= static_cast<long double>(row.margin));
    worst = std::max(worst, off);
  }
  UNSCOPED_INFO(op.name << ": at worst " << worst);
  CHECK(row.margin <= 8 * static_cast<double>(worst) + 1);  // a margin that nothing comes near proves nothing
}

TEST_CASE("every op has a row in the table of random cases, and each row an op") {
  for (const OpCase& op : op_cases())
    CHECK(std::ranges::count(random_cases(), op.name, &RandomCases::name) == 1);
  for (const RandomCases& row : random_cases())
    CHECK(std::ranges::count(op_cases(), row.name, &OpCase::name) == 1);
}

TEST_CASE("2000 random cases of every op are within its margin of exact arithmetic") {
  for (const RandomCases& row : random_cases()) {
    const auto op = std::ranges::find(op_cases(), row.name, &OpCase::name);
    REQUIRE(op != op_cases().end());
    check(*op, row);
  }
}

}  // namespace
}  // namespace tinymp::test
