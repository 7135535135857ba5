#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

/// What the check of an exercise is written with: a program of its own, compiled together with the learner's
/// file. It stops at the first case that is wrong, so its cases go from the smallest to the largest.
namespace tinymp::exercise {

class Judge {
 public:
  /// Counts a case. When it is wrong the check ends with what `otherwise` says: the misconception, and the
  /// smallest counterexample in bits.
  void expect(bool right, const std::function<std::string()>& otherwise) {
    ++cases_;
    if (!right) fail(otherwise());
  }
  /// As many cases at once, all of them right.
  void count(std::int64_t cases) { cases_ += cases; }
  [[noreturn]] void fail(const std::string& message);

  std::int64_t cases() const { return cases_; }

 private:
  std::int64_t cases_ = 0;
};

/// The check itself; each exercise has one.
void check(Judge& judge);

/// "0 01111 0000000001": a half, in its three fields.
std::string half_fields(std::uint16_t bits);
/// The shortest decimal that gives x again, with a sign and "inf" and "nan" as words.
std::string decimal(float x);

}  // namespace tinymp::exercise
