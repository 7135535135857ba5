#include <lessons/lab/classroom/plain_name.h>
#include <tinymp/base/sha256.h>
#include <cstdint>

namespace tinymp::classroom {
namespace {

constexpr std::size_t longest_name = 64;

struct Letter {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  ///< 0: the bytes are no UTF-8
};

/// The letter at the beginning of a text that is not empty.
Letter letter_at(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t bytes = first < 0x80       ? 1
                            : first >> 5 == 6  ? 2
                            : first >> 4 == 14 ? 3
                            : first >> 3 == 30 ? 4
                                               : 0;
  if (bytes == 0 || bytes > text.size()) return {};
  std::uint32_t code = bytes == 1 ? first : first & (0x7fU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if (byte(i) >> 6 != 2) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return code < least[bytes] || code > 0x10ffff || surrogate ? Letter{} : Letter{code, bytes};
}

bool is_shown(std::uint32_t code) {
  const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const bool turns = code == 0x61c || (code >= 0x200b && code <= 0x200f) ||
                     (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
                     code == 0xfeff;
  return !control && !turns;
}

std::string plain(std::string_view text, std::size_t most, bool slashes) {
  std::string shown;
  while (!text.empty()) {
    const Letter letter = letter_at(text);
    const std::size_t bytes = letter.bytes == 0 ? 1 : letter.bytes;
    const bool kept = letter.bytes != 0 && is_shown(letter.code) && (slashes || letter.code != '/');
    if (shown.size() + (kept ? bytes : 1) > most) break;
    shown += kept ? std::string(text.substr(0, bytes)) : "_";
    text.remove_prefix(bytes);
  }
  return shown;
}

/// Whether the name ends as a changed one does: -a1b2c3d4
bool ends_like_a_hash(std::string_view name) {
  if (name.size() < 9 || name[name.size() - 9] != '-') return false;
  return name.find_last_not_of("0123456789abcdef") == name.size() - 9;
}

}  // namespace

std::string plain_name(std::string_view name) {
  const std::string shown = plain(name, longest_name, false);
  if (shown == name && !ends_like_a_hash(name)) return shown;
  return shown + "-" + sha256(std::string(name)).substr(0, 8);
}

std::string plain_line(std::string_view text, std::size_t most) {
  const std::string shown = plain(text, most, true);
  return text.size() > most ? shown + "..." : shown;
}

}  // namespace tinymp::classroom
