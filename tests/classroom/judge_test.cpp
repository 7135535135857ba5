#include <lessons/lab/classroom/judge.h>
#include <tests/catch.h>
#include <limits>

TEST_CASE("judge: a number is shown as it converts back, and a NaN without its sign") {
  using tinymp::exercise::decimal;
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(decimal(0.1f) == "0.1");
  CHECK(decimal(-std::numeric_limits<float>::infinity()) == "-inf");
  CHECK(decimal(nan) == "NaN");
  CHECK(decimal(-nan) == "NaN");
}
