#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

/// The errors of the library. It never prints and never exits: it throws, and the message says what is wrong,
/// where, and how to mend it. Overflow, NaN and underflow in training are results, not errors.
namespace tinymp {

/// A call cannot do what it was asked to do (a program turns it into exit code 1).
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The command line or an option is wrong (exit code 2).
struct UsageError : Error {
  using Error::Error;
};

/// This machine lacks something the run needs: data, a GPU (exit code 3). The message says how to get it.
struct MissingError : Error {
  using Error::Error;
};

/// The call is not possible at this moment, and would not be with more memory either.
struct RefusedError : Error {
  using Error::Error;
};

/// Joins parts, "a", 3, shape, into one string. A part is anything with operator<<.
template <class... Parts>
std::string concat(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// Throws Error with the parts joined, unless `ok`. The message is only built when it is needed:
///   expect(x.dtype() == w.dtype(), "matmul: x is ", x.dtype(), " but w is ", w.dtype());
template <class... Parts>
void expect(bool ok, const Parts&... parts) {
  if (!ok) [[unlikely]]
    throw Error(concat(parts...));
}

}  // namespace tinymp
