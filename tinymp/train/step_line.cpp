#include <tinymp/train/run_log_fields.h>
#include <tinymp/train/step_line.h>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>

namespace tinymp::train {
namespace {

using MemberOf = std::size_t;  // bytes from the begin of a LogRecord

enum class Kind { number, integer, flag };

struct Key {
  std::string_view name;
  Kind kind = Kind::number;
  MemberOf member = 0;
};

constexpr std::size_t most_keys = 32;

struct Keys {
  std::array<Key, most_keys> all{};
  std::size_t count = 0, step = 0, loss = 0;
};

/// All keys of a step, in the order in which the writer writes them.
const Keys& step_keys() {
  static const Keys keys = [] {
    Keys made;
    LogRecord probe;
    const auto add = [&](std::string_view name, auto& member) {
      using Member = std::remove_cvref_t<decltype(member)>;
      static_assert(std::same_as<Member, double> || std::same_as<Member, std::int64_t> ||
                    std::same_as<Member, bool>);
      const Kind kind = std::same_as<Member, double> ? Kind::number
                        : std::same_as<Member, bool> ? Kind::flag
                                                     : Kind::integer;
      const auto at = reinterpret_cast<const char*>(&member) - reinterpret_cast<const char*>(&probe);
      if (name == "step") made.step = made.count;
      if (name == "loss") made.loss = made.count;
      made.all.at(made.count++) = {name, kind, static_cast<MemberOf>(at)};
    };
    fields(probe, add);
    sampled_fields(probe, add);
    return made;
  }();
  return keys;
}

/// What is left of the line.
class Rest {
 public:
  explicit Rest(std::string_view line) : at_(line.data()), end_(line.data() + line.size()) {}

  bool is_empty() const { return at_ == end_; }
  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }
  bool take(std::string_view text) {
    if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, text.size()) != text)
      return false;
    at_ += text.size();
    return true;
  }
  /// "key": and nothing else; empty when it is not that.
  std::string_view key() {
    if (!take('"')) return {};
    const char* const begin = at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\') ++at_;
    const std::string_view name(begin, static_cast<std::size_t>(at_ - begin));
    return take('"') && take(':') ? name : std::string_view{};
  }
  /// The characters of a number as JSON writes one. Sets `is_integer` when it has neither a point nor an exponent.
  /// Empty for what JSON does not allow (01, .5, 1.) and for -0, which the parser takes for the integer 0.
  std::string_view number(bool& is_integer) {
    const char* const begin = at_;
    take('-');
    const char* const first = at_;
    const bool has_whole = digits();
    if (!has_whole || (*first == '0' && at_ - first > 1)) return {};
    is_integer = true;
    if (take('.')) {
      is_integer = false;
      if (!digits()) return {};
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      is_integer = false;
      ++at_;
      if (!take('+')) take('-');
      if (!digits()) return {};
    }
    const bool is_minus_zero = is_integer && *begin == '-' && *first == '0';
    return is_minus_zero ? std::string_view{}
                         : std::string_view(begin, static_cast<std::size_t>(at_ - begin));
  }

 private:
  bool digits() {
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ != begin;
  }

  const char *at_, *end_;
};

template <class Number>
bool convert(std::string_view text, Number& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size();
}

bool read_double(Rest& rest, double& value) {
  using Limits = std::numeric_limits<double>;
  if (rest.take("\"nan\"")) return value = Limits::quiet_NaN(), true;
  if (rest.take("\"inf\"")) return value = Limits::infinity(), true;
  if (rest.take("\"-inf\"")) return value = -Limits::infinity(), true;
  bool is_integer = false;
  const std::string_view text = rest.number(is_integer);
  return !text.empty() && convert(text, value);
}

bool read_value(Rest& rest, const Key& key, LogRecord& record) {
  char* const member = reinterpret_cast<char*>(&record) + key.member;
  if (key.kind == Kind::number) return read_double(rest, *reinterpret_cast<double*>(member));
  if (key.kind == Kind::flag) {
    bool& flag = *reinterpret_cast<bool*>(member);
    flag = rest.take("true");
    return flag || rest.take("false");
  }
  bool is_integer = false;
  const std::string_view text = rest.number(is_integer);
  return !text.empty() && is_integer && convert(text, *reinterpret_cast<std::int64_t*>(member));
}

}  // namespace

bool read_step_line(std::string_view line, LogRecord& record) {
  const Keys& keys = step_keys();
  Rest rest(line);
  std::uint32_t seen = 0;
  std::size_t next = 0;  // the key that the writer would write now
  if (!rest.take('{')) return false;
  do {
    const std::string_view name = rest.key();
    std::size_t which = next;
    while (which < keys.count && keys.all[which].name != name) ++which;
    if (which == keys.count) {  // out of the writer's order
      which = 0;
      while (which < next && keys.all[which].name != name) ++which;
      if (which == next) return false;
    }
    const std::uint32_t bit = std::uint32_t{1} << which;
    if ((seen & bit) != 0 || !read_value(rest, keys.all[which], record)) return false;
    seen |= bit;
    next = which + 1;
  } while (rest.take(','));
  const bool is_step = (seen >> keys.step & 1) != 0 && (seen >> keys.loss & 1) != 0;
  return is_step && rest.take('}') && rest.is_empty();
}

}  // namespace tinymp::train
