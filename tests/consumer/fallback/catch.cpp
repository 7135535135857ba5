#define CATCH_CONFIG_MAIN  // for version 2; version 3 brings its own main
#include <tests/catch.h>
#include <stdexcept>

TEST_CASE("what the tests use of Catch2") {
  SECTION("a section") { CHECK(1 + 1 == 2); }
  REQUIRE_THROWS_AS([] { throw std::runtime_error("no such file: a.gz"); }(), std::runtime_error);
  REQUIRE_THROWS_WITH([] { throw std::runtime_error("no such file: a.gz"); }(),
                      Catch::Matchers::Contains("a.gz"));
  CHECK(0.1 + 0.2 == Approx(0.3));
}
