#include <tests/catch.h>
#include <tinymp/base/error.h>
#include <tinymp/base/float_environment.h>
#include <cfenv>
#include <string>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tinymp::test {
namespace {

/// What check_float_environment() says under `set`, empty when it is content. The usual environment comes
/// back before anything else happens: the test framework computes too.
template <class Set>
std::string complaint(Set set) {
  std::fenv_t usual;
  std::fegetenv(&usual);
  std::string message;
  set();
  try {
    check_float_environment();
  } catch (const Error& error) {
    message = error.what();
  }
  std::fesetenv(&usual);
  return message;
}

bool names(const std::string& message, const char* text) { return message.find(text) != std::string::npos; }

TEST_CASE("float environment: the usual one passes") { CHECK_NOTHROW(check_float_environment()); }

TEST_CASE("float environment: flushing subnormals is refused") {
#if defined(__SSE__)
  const std::string flush_results = complaint([] { _mm_setcsr(_mm_getcsr() | 0x8000); });
  CHECK(names(flush_results, "flush-to-zero is on."));
  CHECK(names(flush_results, "MXCSR"));
  CHECK(names(flush_results, "-ffast-math"));
  CHECK_FALSE(names(flush_results, "rounding is"));
  const std::string flush_operands = complaint([] { _mm_setcsr(_mm_getcsr() | 0x0040); });
  CHECK(names(flush_operands, "denormals-are-zero is on."));
  CHECK_FALSE(names(flush_operands, "flush-to-zero is"));
  CHECK(names(complaint([] { _mm_setcsr(_mm_getcsr() | 0x8040); }),
              "flush-to-zero is on, denormals-are-zero is on"));
#else
  SKIP_TEST("no MXCSR register to set flush-to-zero with");
#endif
}

TEST_CASE("float environment: another rounding than nearest is refused") {
  for (int rounding : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO})
    CHECK(names(complaint([&] { std::fesetround(rounding); }), "rounding is not to nearest"));
  CHECK(complaint([] {}).empty());
}

}  // namespace
}  // namespace tinymp::test
