#pragma once

// Catch2 v2 (Debian 12) and v3 keep their headers in different places.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#include <concepts>
#include <string>
using Catch::Approx;
namespace Catch::Matchers {
/// Version 2's name for a part of a text; in version 3 Contains alone means an element of a range.
template <class Text>
requires std::convertible_to<Text, std::string>
auto Contains(Text&& text) { return ContainsSubstring(text); }
}  // namespace Catch::Matchers
#else
#include <catch2/catch.hpp>
#endif

#include <cstdio>

/// Ends a test whose oracle is missing on this machine. CTest sees the line and reports the test as skipped,
/// never as passed.
#define SKIP_TEST(reason)                  \
  do {                                     \
    std::printf("[skipped] %s\n", reason); \
    return;                                \
  } while (false)
