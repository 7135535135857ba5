#include <lessons/lab/report/number.h>
#include <lessons/lab/report/recipes.h>
#include <lessons/lab/report/run_fields.h>
#include <tinymp/base/error.h>
#include <tinymp/train/run_log_fields.h>
#include <algorithm>
#include <charconv>
#include <optional>
#include <type_traits>
#include <utility>

namespace tinymp::report {
namespace {

using Named = std::vector<std::pair<std::string, std::string>>;

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::is_same_v<T, bool>)
    return value ? "yes" : "no";
  else if constexpr (std::is_same_v<T, DType> || std::is_same_v<T, Rounding> || ScalingChoice<T>)
    return std::string(name_of(value));
  else if constexpr (std::is_same_v<T, ScaleFloors>)
    return to_text(value);
  else if constexpr (std::is_same_v<T, LayerNames>)
    return std::string(value.text());
  else
    return scale_text(static_cast<double>(value));
}

Named settings_of(const Run& run) {
  Named named = {{"recipe", run_field(run, "recipe")}};
  if (run.foreign_recipe.empty()) {
    train::fields(run.header.recipe, [&](const char* key, const auto& value) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, LossScaling>) {
        named.emplace_back(key, name_of(value));
        train::fields(value, [&](const char* part, const auto& number) {
          named.emplace_back(concat(key, " ", part), text_of(number));
        });
      } else {
        named.emplace_back(key, text_of(value));
      }
    });
  }
  for (const char* const field : {"model", "data", "optimizer", "lr", "batch", "micro_batches", "recompute",
                                  "wire", "steps", "seed", "pieces"})
    named.emplace_back(field, run_field(run, field));
  if (run.header.ranks > 1) named.emplace_back("ranks", run_field(run, "ranks"));
  return named;
}

/// Where one run has a setting that those before did not have, it stands behind the one that it follows there.
std::size_t place_of(std::vector<Setting>& all, const Named& named, std::size_t at, std::size_t groups) {
  const auto found = std::ranges::find(all, named[at].first, &Setting::name);
  if (found != all.end()) return static_cast<std::size_t>(found - all.begin());
  std::size_t place = 0;
  if (at > 0)
    place =
        static_cast<std::size_t>(std::ranges::find(all, named[at - 1].first, &Setting::name) - all.begin()) +
        1;
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(place),
             {named[at].first, std::vector<std::string>(groups)});
  return place;
}

std::optional<double> number_in(const std::string& text) {
  double number = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// Numbers before other texts, and upwards.
bool comes_before(const std::string& a, const std::string& b) {
  const std::optional<double> x = number_in(a), y = number_in(b);
  if (x && y) return *x < *y;
  return x || y ? x.has_value() : a < b;
}

/// Each value once. Two groups with the same values have the same text, whichever of their runs came first.
void join(std::string& values, std::vector<std::string>& known, const std::string& value) {
  if (value.empty() || std::ranges::find(known, value) != known.end()) return;
  known.insert(std::ranges::upper_bound(known, value, comes_before), value);
  values.clear();
  for (const std::string& one : known) values += (values.empty() ? "" : "; ") + one;
}

}  // namespace

bool Setting::differs() const {
  return std::ranges::any_of(values, [&](const std::string& value) { return value != values[0]; });
}

std::vector<Setting> settings_of(std::span<const Group> groups) {
  std::vector<Setting> all;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    std::vector<std::pair<std::string, std::vector<std::string>>> known;
    for (const Run* run : groups[g].runs) {
      const Named named = settings_of(*run);
      for (std::size_t at = 0; at < named.size(); ++at) {
        Setting& setting = all[place_of(all, named, at, groups.size())];
        auto seen = std::ranges::find(known, setting.name, [](const auto& pair) { return pair.first; });
        if (seen == known.end()) seen = known.insert(seen, {setting.name, {}});
        join(setting.values[g], seen->second, named[at].second);
      }
    }
  }
  std::erase_if(all, [](const Setting& setting) {
    return std::ranges::all_of(setting.values, [](const std::string& value) { return value.empty(); });
  });
  return all;
}

}  // namespace tinymp::report
