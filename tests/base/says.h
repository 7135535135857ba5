#pragma once

#include <tinymp/base/error.h>
#include <string>

/// Looks into the message of what is thrown; a failing test then shows the message there was.
namespace tinymp::test {

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const Error& error) {
    return error.what();
  } catch (const std::exception& other) {
    return std::string("(no tinymp::Error: ") + other.what() + ")";
  }
  return "(nothing was thrown)";
}

}  // namespace tinymp::test

/// The Error that the expression throws must say `part`.
#define CHECK_SAYS(part, ...)                                                                     \
  do {                                                                                            \
    const std::string said = ::tinymp::test::message_of([&] { static_cast<void>(__VA_ARGS__); }); \
    INFO("the message is: " << said << "\nit should say:  " << (part));                           \
    CHECK(said.find(part) != std::string::npos);                                                  \
  } while (false)
