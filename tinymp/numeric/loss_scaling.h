#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/numeric/scale_floors.h>
#include <cmath>  // exercise 7.1 may use std::isfinite
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

/// The policies of loss scaling: which S multiplies the loss, and how S moves. CPU and GPU use the same move_scale().
///
/// A policy is a struct with the members below. The type LossScaling lists all policies.
///   name                     the policy's name in run logs and for --scaling
///   moves                    true when S changes during a run; move_scale(policy, state) says how
///   first_scale()            S before the first step
///   skips_nonfinite()        true when a step with a gradient that is not finite is skipped
///   fields(policy, visit)    calls visit(field, member) for each data member; `field` is a ScalingField
/// To add a policy, declare its struct above LossScaling, add the struct to LossScaling, and write the struct
/// below, with operator==. If the policy moves S, write its move_scale(), too. After that write a static_assert of
/// ScalingPolicy for the struct, as the other policies have it. The static_assert does not compile if a member is missing.
/// Then write a function sentence() for the policy in loss_scaling.cpp; describe() calls sentence().
namespace tinymp {

struct NoScaling;
struct StaticScaling;
struct DynamicScaling;
struct EnhancedScaling;

using LossScaling = std::variant<NoScaling, StaticScaling, DynamicScaling, EnhancedScaling>;

/// The current S of a run, and what its policy counts. A LossScaler keeps them on the device of the gradients.
struct ScaleState {
  float scale = 1;
  std::int32_t growth_tracker = 0;  ///< good steps in a row
  bool bad = false;                 ///< a check of this step found a gradient that is not finite
  std::int64_t steps = 0;  ///< EnhancedScaling: the steps that are over, good or bad. Others leave it
  bool operator==(const ScaleState&) const = default;
};

/// Describes one data member of a policy. Run logs, ./learn train and the checks of LossScaler use the description.
struct ScalingField {
  const char* key;    ///< in a run log: "growth_interval"
  const char* flag;   ///< "--growth-interval"; two policies may share a flag
  const char* label;  ///< in the title of a run: "interval"
  const char* help;
  double above = 0, below = std::numeric_limits<double>::infinity();  ///< a number must lie between the two
};

/// A visitor that accepts every field and does nothing. The concept ScalingPolicy calls fields() with this visitor.
struct AnyField {
  template <class T>
  void operator()(const ScalingField&, T&) const {}
};

template <class Policy, class Variant>
inline constexpr bool is_alternative = false;
template <class Policy, class... All>
inline constexpr bool is_alternative<Policy, std::variant<All...>> = (std::same_as<Policy, All> || ...);

/// Ends a step under a policy whose S never changes.
template <class Policy>
requires(!Policy::moves) TINYMP_HD void move_scale(const Policy&, ScaleState& s) { s.bad = false; }

template <class Policy>
concept ScalingPolicy = is_alternative<Policy, LossScaling> && std::equality_comparable<Policy> &&
    requires(Policy policy, const Policy fixed, ScaleState& state) {
  { Policy::name } -> std::convertible_to<std::string_view>;
  { Policy::moves } -> std::convertible_to<bool>;
  { fixed.first_scale() } -> std::same_as<float>;
  { fixed.skips_nonfinite() } -> std::same_as<bool>;
  Policy::fields(policy, AnyField());
  Policy::fields(fixed, AnyField());
  move_scale(fixed, state);
};

/// The loss is not multiplied (S = 1) and a step is never skipped.
struct NoScaling {
  static constexpr std::string_view name = "none";
  static constexpr bool moves = false;

  float first_scale() const { return 1; }
  bool skips_nonfinite() const { return false; }
  template <class Self, class F>
  static void fields(Self&, F&&) {}
  bool operator==(const NoScaling&) const = default;
};
static_assert(ScalingPolicy<NoScaling>);

/// The loss is multiplied by a constant S. Micikevicius et al. 2018 (arXiv 1710.03740), section 3.2.
struct StaticScaling {
  static constexpr std::string_view name = "static";
  static constexpr bool moves = false;

  float factor = 1024;
  bool skip_nonfinite = false;  ///< skip the step when a gradient is not finite (S does not change)

  float first_scale() const { return factor; }
  bool skips_nonfinite() const { return skip_nonfinite; }
  template <class Self, class F>
  static void fields(Self& self, F&& visit) {
    visit({"factor", "--loss-scale", "S", "S"}, self.factor);
    visit({"skip_nonfinite", "--skip-nonfinite", "skips", "skip steps with gradients that overflow"},
          self.skip_nonfinite);
  }
  bool operator==(const StaticScaling&) const = default;
};
static_assert(ScalingPolicy<StaticScaling>);

/// S follows the gradients. When a gradient overflows, the step is skipped and S is multiplied by `backoff`. After
/// `growth_interval` good steps in a row S is multiplied by `growth`. Defaults and rounding are those of PyTorch's
/// GradScaler (torch/amp/grad_scaler.py).
struct DynamicScaling {
  static constexpr std::string_view name = "dynamic";
  static constexpr bool moves = true;

  float initial = 65536;
  double growth = 2;
  double backoff = 0.5;
  int growth_interval = 2000;

  float first_scale() const { return initial; }
  bool skips_nonfinite() const { return true; }
  template <class Self, class F>
  static void fields(Self& self, F&& visit) {
    visit({"initial", "--loss-scale", "S", "the first S"}, self.initial);
    visit({"growth", "--growth", "growth", "S grows by the factor X", 1}, self.growth);
    visit({"backoff", "--backoff", "backoff", "a bad step multiplies S by X", 0, 1}, self.backoff);
    visit({"growth_interval", "--growth-interval", "interval", "S grows after N good steps in a row"},
          self.growth_interval);
  }
  bool operator==(const DynamicScaling&) const = default;
};

// <exercise move_scale>
///   bad step    S = S x backoff, without a lower bound; the count of good steps becomes 0
///   good step   the count grows by one; when it is growth_interval, S = S x growth and the count becomes 0;
///               if the product would be infinite, S does not change
TINYMP_HD inline void move_scale(const DynamicScaling& policy, ScaleState& s) {
  if (s.bad) {
    s.scale = static_cast<float>(static_cast<double>(s.scale) * policy.backoff);
    s.growth_tracker = 0;
  } else if (++s.growth_tracker == policy.growth_interval) {
    const double grown = static_cast<double>(s.scale) * policy.growth;
    const float rounded = static_cast<float>(grown);
    if (rounded < std::numeric_limits<float>::infinity()) s.scale = rounded;
    s.growth_tracker = 0;
  }
  s.bad = false;
}
// </exercise move_scale>
static_assert(ScalingPolicy<DynamicScaling>);

/// DynamicScaling with a floor that rises during a run: an overflow without cause cannot push S so low that gradients
/// underflow. Mellempudi et al. 2019, "Mixed precision training with 8-bit floating point" (arXiv 1905.12334). The
/// floors are data, because they belong to a model: the values that are told of the paper (8192 after about 40,000 steps of
/// GNMT, 32768 after about 150,000; 10,000 for ResNet-50) are unconfirmed. Without floors S moves as under
/// DynamicScaling.
struct EnhancedScaling {
  static constexpr std::string_view name = "enhanced";
  static constexpr bool moves = true;

  DynamicScaling dynamic{};
  ScaleFloors floor{};

  float first_scale() const { return dynamic.first_scale(); }
  bool skips_nonfinite() const { return true; }
  template <class Self, class F>
  static void fields(Self& self, F&& visit) {
    DynamicScaling::fields(self.dynamic, visit);
    visit({"floor", "--floor", "floor", "S backs off no further, as in 40000:8192,150000:32768"}, self.floor);
  }
  bool operator==(const EnhancedScaling&) const = default;
};

// <exercise rising_floor>
/// Steps count from 1. The floor of a step holds after a back-off in that step. So where a floor rises above S, it
/// lifts S at the next overflow, and not before; and growth knows no floor.
TINYMP_HD inline void move_scale(const EnhancedScaling& policy, ScaleState& s) {
  const bool backs_off = s.bad;
  move_scale(policy.dynamic, s);
  const float floor = policy.floor.of_step(++s.steps);
  if (backs_off && s.scale < floor) s.scale = floor;
}
// </exercise rising_floor>
static_assert(ScalingPolicy<EnhancedScaling>);

// The members of a policy as functions, for a policy that is known only at run time.
// ----------------------------------------------------------------------------------------------------

std::string_view name_of(const LossScaling& scaling);
bool moves(const LossScaling& scaling);
bool skips_nonfinite(const LossScaling& scaling);
ScaleState first_state(const LossScaling& scaling);
/// Returns the state after a step. In the argument, `state.bad` tells whether the step was bad.
ScaleState next_state(const LossScaling& scaling, ScaleState state);

/// Calls visit(field, member) for each data member of the policy, in the order of run logs and --help.
template <class Scaling, class F>
requires std::same_as<std::remove_const_t<Scaling>, LossScaling>
void visit_fields(Scaling& scaling, F&& visit) {
  std::visit([&](auto& policy) { policy.fields(policy, visit); }, scaling);
}

/// "none", "static", ...
std::vector<std::string> scaling_names();

/// "dynamic" -> DynamicScaling{}; nothing when no policy has this name.
std::optional<LossScaling> scaling_named(std::string_view name);

/// "S dynamic from 65536"; empty for NoScaling.
std::string describe(const LossScaling& scaling);

}  // namespace tinymp
