#include <tests/catch.h>
#include <tinymp/numeric/dtype.h>
#include <sstream>
#include <type_traits>

namespace tinymp::test {
namespace {

constexpr DType kComputed[] = {DType::f32, DType::f16, DType::bf16, DType::f64};
constexpr DType kAll[] = {DType::f32, DType::f16, DType::bf16, DType::f64, DType::e5m2, DType::e4m3};

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
  CHECK_THROWS_WITH(dtype_from_name("F16"),
                    "\"F16\" is not a format; choose f32, f16, bf16, e5m2, e4m3 or f64");
}

TEST_CASE("dtype: a visit hands over the type of that name and size") {
  for (DType dtype : kAll) {
    visit_any_dtype(dtype, [&]<class T> {
      CHECK(dtype_of<T> == dtype);
      CHECK(sizeof(T) == size_of(dtype));
    });
  }
  for (DType dtype : kComputed) visit_dtype(dtype, [&]<class T> { CHECK(dtype_of<T> == dtype); });
  CHECK(visit_dtype(DType::f16, []<class T> { return std::is_same_v<T, half>; }));
  CHECK(visit_dtype(DType::bf16, []<class T> { return std::is_same_v<T, bfloat16>; }));
}

TEST_CASE("dtype: what no op computes in is no type of a kernel") {
  for (DType dtype : {DType::e5m2, DType::e4m3}) {
    CHECK_FALSE(has_arithmetic(dtype));
    CHECK_THROWS_WITH(
        visit_dtype(dtype, []<class T> { FAIL("a kernel of FP8"); }),
        concat("no op computes in ", dtype, ", which is for storage and the operands of matrix ",
               "products and convolutions; cast() to f32, f16 or bf16 first"));
  }
  for (DType dtype : kComputed) CHECK(has_arithmetic(dtype));
}

}  // namespace
}  // namespace tinymp::test
