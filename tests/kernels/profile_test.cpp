#include <kernels/kernels.h>
#include <kernels/profile.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/tensor/tensor.h>
#include <algorithm>
#include <chrono>

namespace tinymp::test {
namespace {

using namespace kernels;

const ProfileLine* line(const std::vector<ProfileLine>& lines, const std::string& kernel) {
  const auto found = std::ranges::find(lines, kernel, &ProfileLine::kernel);
  return found == lines.end() ? nullptr : &*found;
}

TEST_CASE("profile: calls by kernel and operands, the most expensive first") {
  const Tensor a({7, 3}, DType::f16), b({7, 5}, DType::f16), c({3, 5}, DType::f16), big({300'000});
  for (const Tensor& x : {a, b}) fill(x.view(), 1);  // before: not counted
  const auto start = std::chrono::steady_clock::now();
  std::vector<ProfileLine> lines;
  {
    const Profile profile;
    CHECK(profile.lines().empty());
    for (int i = 0; i < 3; ++i) gemm(a.view(), Trans::yes, b.view(), Trans::no, c.view(), DType::f32, {});
    fill(big.view(), 1);
    fill(c.view(), 1);
    lines = profile.lines();
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  REQUIRE(lines.size() == 3);
  const ProfileLine* const product = line(lines, "gemm");
  REQUIRE(product != nullptr);
  CHECK(product->calls == 3);
  CHECK(product->operands == "(7,3):f16^T (7,5):f16 -> (3,5):f16");
  double sum = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CHECK(lines[i].seconds >= 0);
    if (i > 0) CHECK(lines[i].seconds <= lines[i - 1].seconds);
    sum += lines[i].seconds;
  }
  CHECK((sum > 0 && sum <= seconds));

  fill(c.view(), 1);  // afterwards: not counted; and the next begins with nothing
  const Profile next;
  CHECK(next.lines().empty());
}

TEST_CASE("profile: what follows a product is part of its name") {
  const Tensor a({2, 3}), b({3, 4}), c({2, 4}), bias({4});
  for (const Tensor& x : {a, b, bias}) fill(x.view(), 1);
  const Profile profile;
  gemm(a.view(), Trans::no, b.view(), Trans::no, c.view(), DType::f32, {bias.view(), Unary::relu});
  REQUIRE(profile.lines().size() == 1);
  CHECK(profile.lines()[0].operands == "(2,3) (3,4) -> (2,4) + bias, activation");
}

TEST_CASE("profile: one at a time") {
  const Profile profile;
  CHECK_SAYS("one at a time", Profile());
}

}  // namespace
}  // namespace tinymp::test
