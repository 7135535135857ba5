#include <tinymp/numeric/eight_bits.h>
#include <algorithm>
#include <utility>

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

constexpr std::array<std::pair<TensorScaling, std::string_view>, 4> scaling_table{
    {{TensorScaling::none, "none"},
     {TensorScaling::current, "current"},
     {TensorScaling::torchao, "torchao"},
     {TensorScaling::delayed, "delayed"}}};
constexpr std::array<std::pair<AmaxAlgorithm, std::string_view>, 2> algorithm_table{
    {{AmaxAlgorithm::max, "max"}, {AmaxAlgorithm::most_recent, "most_recent"}}};

template <class T>
std::string_view name_in(const auto& table, T value) {
  for (const auto& [known, name] : table)
    if (known == value) return name;
  return "";
}
template <class T>
bool set_from(const auto& table, T& value, std::string_view name) {
  for (const auto& [known, its_name] : table)
    if (its_name == name) return value = known, true;
  return false;
}
std::vector<std::string> names_in(const auto& table) {
  std::vector<std::string> names;
  for (const auto& row : table) names.emplace_back(row.second);
  return names;
}

}  // namespace

std::string_view name_of(TensorScaling scaling) { return name_in(scaling_table, scaling); }
std::string_view name_of(AmaxAlgorithm algorithm) { return name_in(algorithm_table, algorithm); }
bool set_by_name(TensorScaling& value, std::string_view name) { return set_from(scaling_table, value, name); }
bool set_by_name(AmaxAlgorithm& value, std::string_view name) {
  return set_from(algorithm_table, value, name);
}
std::vector<std::string> tensor_scaling_names() { return names_in(scaling_table); }
std::vector<std::string> amax_algorithm_names() { return names_in(algorithm_table); }

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
