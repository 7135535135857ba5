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

/// What the check of an exercise is written with. The check runs in a process of its own and asks the program
/// with the submission in it (serve.h) what comes out for its cases; oracle, cases and verdict stay here. It
/// stops at the first case that is wrong, so its cases go from the smallest to the largest: fixed ones first,
/// then some drawn from a new seed.
namespace tinymp::exercise {

/// What the submission threw at a request.
struct Threw : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Judge {
 public:
  explicit Judge(std::uint64_t seed) : seed_(seed) {}

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

  /// The submission's reply. Throws Threw; ends the check when the program has ended instead: then `asked`
  /// says in which case.
  Message ask(const Message& request, const std::function<std::string()>& asked = {});
  /// The two halves of ask(): a request may be sent before the reply to the one before it is received.
  void send(const Message& request);
  Message receive(const std::function<std::string()>& asked = {});

  /// As many replies of Out as there are questions: serve_each.
  template <class Out, class In>
  std::vector<Out> ask_each(const std::vector<In>& in) {
    return ask(Message().put_all(in)).template take_all<Out>(in.size());
  }

  /// The next of the numbers that come from the seed.
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

/// The check itself; each exercise has one.
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

/// The shortest decimal that gives x again, with a sign and "inf" and "nan" as words.
inline std::string decimal(float x) {
  std::array<char, 64> text{};
  const auto [end, _] = std::to_chars(text.data(), text.data() + text.size(), x);
  return {text.data(), end};
}

}  // namespace tinymp::exercise
