#include <tinymp/base/error.h>
#include <tinymp/numeric/loss_scaling.h>
#include <sstream>

namespace tinymp {
namespace {

// Nine digits tell all floats apart: 16777216 is not printed as 1.67772e+07.
std::string number(double x) {
  std::ostringstream out;
  out.precision(9);
  out << x;
  return out.str();
}

std::string sentence(const NoScaling&) { return ""; }

std::string sentence(const StaticScaling& s) {
  return concat("S static ", number(s.factor), s.skip_nonfinite ? ", skips non-finite steps" : "");
}

/// What follows "S dynamic" and "S enhanced".
std::string moves_of(const DynamicScaling& s) {
  const DynamicScaling usual;
  std::string text = " from " + number(s.initial);
  if (s.growth != usual.growth || s.growth_interval != usual.growth_interval)
    text += concat(", times ", number(s.growth), " after ", s.growth_interval, " good steps");
  if (s.backoff != usual.backoff) text += concat(", times ", number(s.backoff), " after a bad one");
  return text;
}

std::string sentence(const DynamicScaling& s) { return "S dynamic" + moves_of(s); }

std::string sentence(const EnhancedScaling& s) {
  std::string text = "S enhanced" + moves_of(s.dynamic);
  for (int i = 0; i < s.floor.count; ++i)
    text +=
        concat(i == 0 ? ", at least " : ", ", number(s.floor.at[i].value), " from step ", s.floor.at[i].step);
  return text;
}

/// Calls f(policy) with a default-constructed policy of every kind.
template <class F, class... Policies>
void for_each_policy(F&& f, std::type_identity<std::variant<Policies...>>) {
  (f(Policies()), ...);
}
template <class F>
void for_each_policy(F&& f) {
  for_each_policy(f, std::type_identity<LossScaling>());
}

}  // namespace

std::string_view name_of(const LossScaling& scaling) {
  return std::visit([](const auto& policy) { return policy.name; }, scaling);
}

bool moves(const LossScaling& scaling) {
  return std::visit([](const auto& policy) { return policy.moves; }, scaling);
}

bool skips_nonfinite(const LossScaling& scaling) {
  return std::visit([](const auto& policy) { return policy.skips_nonfinite(); }, scaling);
}

ScaleState first_state(const LossScaling& scaling) {
  return {.scale = std::visit([](const auto& policy) { return policy.first_scale(); }, scaling)};
}

ScaleState next_state(const LossScaling& scaling, ScaleState state) {
  std::visit([&](const auto& policy) { move_scale(policy, state); }, scaling);
  return state;
}

std::vector<std::string> scaling_names() {
  std::vector<std::string> names;
  for_each_policy([&](const auto& policy) { names.emplace_back(policy.name); });
  return names;
}

std::optional<LossScaling> scaling_named(std::string_view name) {
  std::optional<LossScaling> found;
  for_each_policy([&](const auto& policy) {
    if (policy.name == name) found = policy;
  });
  return found;
}

std::string describe(const LossScaling& scaling) {
  return std::visit([](const auto& policy) { return sentence(policy); }, scaling);
}

}  // namespace tinymp
