#include <tinymp/numeric/eight_bits.h>
#include <algorithm>

namespace tinymp {
namespace {

/// True when the text is the pattern, in which * stands for any text.
bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] != '*')
    return !text.empty() && text[0] == pattern[0] && matches(pattern.substr(1), text.substr(1));
  for (std::size_t skipped = 0; skipped <= text.size(); ++skipped)
    if (matches(pattern.substr(1), text.substr(skipped))) return true;
  return false;
}

}  // namespace

LayerNames LayerNames::from(std::string_view text) {
  if (text.size() > longest)
    throw UsageError(concat("a list of layers has at most ", longest, " characters, not ", text.size(),
                            "; * stands for any text, as in block*"));
  LayerNames names;
  std::ranges::copy(text, names.text_.begin());
  return names;
}

bool LayerNames::has(std::string_view layer) const {
  for (std::string_view rest = text(); !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    if (matches(one, layer)) return true;
    rest.remove_prefix(std::min(rest.size(), one.size() + 1));
  }
  return false;
}

}  // namespace tinymp
