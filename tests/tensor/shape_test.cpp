#include <tinymp/tensor/shape.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <sstream>
#include <vector>

namespace tinymp::test {
namespace {

std::string text_of(const Shape& shape) {
  std::ostringstream out;
  out << shape;
  return out.str();
}

TEST_CASE("a shape knows its extents, its size, its rows and columns") {
  const Shape image{64, 3, 28, 30};
  CHECK(image.rank() == 4);
  CHECK(image[0] == 64);
  CHECK(image[3] == 30);
  CHECK(image.size() == 64 * 3 * 28 * 30);
  CHECK(image.cols() == 30);
  CHECK(image.rows() == 64 * 3 * 28);
  CHECK(std::vector<std::int64_t>(image.begin(), image.end()) == std::vector<std::int64_t>{64, 3, 28, 30});
  CHECK(text_of(image) == "(64, 3, 28, 30)");
}

TEST_CASE("no dimension is one value, an extent of 0 none") {
  const Shape scalar;
  CHECK(scalar.rank() == 0);
  CHECK(scalar.size() == 1);
  CHECK(scalar.rows() == 1);
  CHECK(scalar.cols() == 1);
  CHECK(text_of(scalar) == "()");
  CHECK(scalar == Shape{});
  CHECK_FALSE(scalar == Shape{1});

  for (const Shape& empty : {Shape{0}, Shape{0, 5}, Shape{5, 0}, Shape{2, 0, 3}}) {
    INFO(text_of(empty));
    CHECK(empty.size() == 0);
    CHECK(empty.rows() * empty.cols() == 0);
  }
}

TEST_CASE("equal means the same extents in the same order") {
  CHECK(Shape{2, 3} == Shape{2, 3});
  CHECK_FALSE(Shape{2, 3} == Shape{3, 2});
  CHECK_FALSE(Shape{2, 3} == Shape{2, 3, 1});
  CHECK_FALSE(Shape{6} == Shape{2, 3});
}

TEST_CASE("five dimensions and negative extents are refused") {
  // Through a pointer that the compiler cannot see behind: it would warn of the fifth extent, and be right.
  Shape (*const volatile make)(std::span<const std::int64_t>) = [](std::span<const std::int64_t> extents) {
    return Shape(extents);
  };
  const std::vector<std::int64_t> five(5, 1);
  CHECK_SAYS("a tensor has at most 4 dimensions, not 5", make(five));
  CHECK_SAYS("a dimension cannot be -1", Shape{2, -1});
}

TEST_CASE("more values than any memory holds are refused, before their number overflows") {
  const std::int64_t large = std::int64_t{1} << 40;
  CHECK_SAYS("too many values", Shape{large, large});
  CHECK_SAYS("too many values", Shape{large, large, large, large});
  CHECK_SAYS("too many values", Shape{large, 0, large});
  CHECK(Shape{large, 1 << 20}.size() == std::int64_t{1} << 60);
}

}  // namespace
}  // namespace tinymp::test
