#pragma once

#include <lessons/lab/classroom/message.h>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The tools of an exercise's check. The check runs in a process of its own and asks the program with the
/// submission (serve.h) for its results. Oracle, cases and verdict stay in the check's process. The check
/// stops at the first wrong case, so its cases go from the smallest to the largest: fixed ones first, then
/// some drawn from a new seed.
namespace tinymp::exercise {

/// The submission threw this while it answered a request.
struct Threw : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Judge {
 public:
  explicit Judge(std::uint64_t seed) : seed_(seed) {}

  /// Counts a case. A wrong case ends the check with the message of `otherwise`: the misconception, and the
  /// smallest counterexample in bits.
  void expect(bool right, const std::function<std::string()>& otherwise) {
    ++cases_;
    if (!right) fail(otherwise());
  }
  /// Counts several cases at once, all of them right.
  void count(std::int64_t cases) { cases_ += cases; }
  [[noreturn]] void fail(const std::string& message);
  std::int64_t cases() const { return cases_; }

  /// Sends a request and returns the submission's reply. Throws Threw. When the program has ended instead,
  /// the check ends, and the message of `asked` names the case.
  Message ask(const Message& request, const std::function<std::string()>& asked = {});
  /// The two halves of ask(). A request may be sent before the reply to the previous one is received.
  void send(const Message& request);
  Message receive(const std::function<std::string()>& asked = {});

  /// Asks one question for each element of `in` and returns one Out for each: serve_each answers it.
  template <class Out, class In>
  std::vector<Out> ask_each(const std::vector<In>& in) {
    return ask(Message().put_all(in)).template take_all<Out>(in.size());
  }

  /// The next number drawn from the seed.
  std::uint64_t draw() {  // splitmix64
    std::uint64_t x = seed_ += 0x9e37'79b9'7f4a'7c15u;
    x = (x ^ x >> 30) * 0xbf58'476d'1ce4'e5b9u;
    x = (x ^ x >> 27) * 0x94d0'49bb'1331'11ebu;
    return x ^ x >> 31;
  }
  std::int64_t draw_below(std::int64_t n) {
    return static_cast<std::int64_t>(draw() % static_cast<std::uint64_t>(n));
  }

 private:
  std::int64_t cases_ = 0;
  std::uint64_t seed_;
};

/// The check of the exercise; each exercise defines one.
void check(Judge& judge);

/// "0 01111 0000000001": a half, in its three fields.
inline std::string half_fields(std::uint16_t bits) {
  std::string text;
  for (int i = 15; i >= 0; --i) {
    text += ((bits >> i) & 1) != 0 ? '1' : '0';
    if (i == 15 || i == 10) text += ' ';
  }
  return text;
}

/// The shortest decimal that converts back to x; "inf", "-inf" and "NaN" for these.
inline std::string decimal(float x) {
  if (x != x) return "NaN";  // whose sign says nothing
  std::array<char, 64> text{};
  const auto [end, _] = std::to_chars(text.data(), text.data() + text.size(), x);
  return {text.data(), end};
}

}  // namespace tinymp::exercise
