#include <tests/catch.h>
#include <tinymp/numeric/dtype.h>
#include <sstream>
#include <type_traits>

namespace tinymp::test {
namespace {

constexpr DType kAll[] = {DType::f32, DType::f16, DType::bf16, DType::f64};

TEST_CASE("dtype: names go both ways") {
  CHECK(dtype_from_name("f32") == DType::f32);
  CHECK(dtype_from_name("f16") == DType::f16);
  CHECK(dtype_from_name("bf16") == DType::bf16);
  CHECK(dtype_from_name("f64") == DType::f64);
  for (DType dtype : kAll) {
    std::ostringstream out;
    out << dtype;
    CHECK(dtype_from_name(out.str()) == dtype);
  }
}

TEST_CASE("dtype: an unknown name is refused with the choices") {
  CHECK_THROWS_AS(dtype_from_name("float"), UsageError);
  CHECK_THROWS_AS(dtype_from_name(""), UsageError);
  CHECK_THROWS_WITH(dtype_from_name("F16"), "\"F16\" is not a format; choose f32, f16, bf16 or f64");
}

TEST_CASE("dtype: visit_dtype hands over the type of that name and size") {
  for (DType dtype : kAll) {
    visit_dtype(dtype, [&]<class T> {
      CHECK(dtype_of<T> == dtype);
      CHECK(sizeof(T) == size_of(dtype));
    });
  }
  CHECK(visit_dtype(DType::f16, []<class T> { return std::is_same_v<T, half>; }));
  CHECK(visit_dtype(DType::bf16, []<class T> { return std::is_same_v<T, bfloat16>; }));
}

}  // namespace
}  // namespace tinymp::test
