#pragma once

/// Whether a sanitizer watches this program: it has a malloc and an operator new of its own.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TINYMP_SANITIZED 1
#elif defined(__has_feature)
#define TINYMP_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define TINYMP_SANITIZED 0
#endif

namespace tinymp::test {

inline constexpr bool sanitized = TINYMP_SANITIZED;

}  // namespace tinymp::test
