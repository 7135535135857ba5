#include <tinymp/autograd/nonfinite_tracer.h>
#include <tinymp/numeric/convert.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace tinymp {
namespace {

/// Calls f(i, value) for every value of x, as a double.
template <class F>
void for_each(const Tensor& x, F f) {
  const Tensor here = x.to(Device::cpu);
  visit_any_dtype(here.dtype(), [&]<class T>() {
    const T* values = here.data<T>();
    for (std::int64_t i = 0; i < here.size(); ++i) f(i, converted<double>(values[i]));
  });
}

/// "layer 2 weight" -> "layer 2"
std::string layer_of(const std::string& name) { return name.substr(0, name.rfind(' ')); }

}  // namespace

Contents contents_of(const Tensor& x) {
  Contents found;
  bool any = false;
  for_each(x, [&](std::int64_t i, double value) {
    if (std::isfinite(value)) {
      found.low = any ? std::min(found.low, value) : value;
      found.high = any ? std::max(found.high, value) : value;
      any = true;
      return;
    }
    const bool first_infinity = std::isinf(value) && !std::isinf(found.bad);
    if (found.finite() || first_infinity) found.bad_at = i, found.bad = value;
    found.has_nan = found.has_nan || std::isnan(value);
  });
  return found;
}

bool all_finite(const Tensor& x) {
  const Tensor here = x.to(Device::cpu);
  return visit_any_dtype(here.dtype(), [&]<class T> {
    using Bits = BitsOf<T>;
    const T* values = here.data<T>();
    Bits bad = 0;
    for (std::int64_t i = 0; i < here.size(); ++i) {
      const auto magnitude = static_cast<Bits>(std::bit_cast<Bits>(values[i]) & static_cast<Bits>(-1) >> 1);
      bad |= static_cast<Bits>(magnitude >= nonfinite_bits<T>);
    }
    return bad == 0;
  });
}

std::string NonfiniteTracer::name_of(const Tensor& x) const {
  const auto copy = copies_.find(x.id());
  return copy != copies_.end() ? copy->second : name_ ? name_(x) : "";
}

/// Returns the place of an op: the layer whose parameters are among its inputs, or after the last such layer.
const std::string& NonfiniteTracer::follow(const std::string& op, const std::vector<Tensor>& inputs,
                                           const Tensor& output) {
  std::string place = layer_.empty() ? "before the first layer" : "after " + layer_;
  for (const Tensor& x : inputs) {
    if (const std::string name = name_of(x); !name.empty()) layer_ = place = layer_of(name);
  }
  copies_.erase(output.id());  // an earlier tensor may have had the same id
  if (op == "cast")
    if (const std::string name = name_of(inputs[0]); !name.empty()) copies_[output.id()] = name;
  return places_[output.id()] = place;
}

/// Returns what this op made itself. After an op has made an infinity, later ops pass it on: then an op with
/// a bad input makes only a NaN that no input had.
NonfiniteTracer::Made NonfiniteTracer::made_by(const std::vector<BadTensor::Input>& inputs,
                                               const Contents& output) const {
  const auto bad = [](const BadTensor::Input& x) { return !x.contents.finite(); };
  const auto nan = [](const BadTensor::Input& x) { return x.contents.has_nan; };
  const bool goes_around = !origins_.empty() && std::ranges::any_of(inputs, bad);
  if (!goes_around) return {ops_, std::isinf(output.bad), output.has_nan};
  return {ops_, false, output.has_nan && std::ranges::none_of(inputs, nan)};
}

bool NonfiniteTracer::is_known(const Made& made) const {
  return std::ranges::any_of(known_, [&](const Made& known) {
    return known.op == made.op && known.infinity >= made.infinity && known.nan >= made.nan;
  });
}

void NonfiniteTracer::forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) {
  const Uncounted apart;
  ++ops_;
  if (std::exchange(has_gone_back_, false)) layer_.clear();
  const std::string& place = follow(op.name, inputs, output);
  last_is_finite_ = all_finite(output);
  if (last_is_finite_) return;
  BadTensor found{BadTensor::Origin::forward, op.name, place, output.dtype(), output.shape(),
                  contents_of(output),        {}};
  for (const Tensor& x : inputs) found.inputs.push_back({name_of(x), x.dtype(), contents_of(x)});
  const Made made = made_by(found.inputs, found.contents);
  if (!made.infinity && !made.nan) return;
  const bool nothing_before = origins_.empty();
  origins_.push_back(made);
  std::optional<BadTensor>& kept = is_known(made) ? first_known_ : first_;
  if (kept) return;
  // This op did not make an input that is already bad.
  for (std::size_t i = 0; i < inputs.size() && nothing_before; ++i) {
    if (found.inputs[i].contents.finite()) continue;
    found.origin = BadTensor::Origin::input;
    if (!found.inputs[i].name.empty()) found.where = found.inputs[i].name;
    found.dtype = inputs[i].dtype();
    found.shape = inputs[i].shape();
    found.contents = found.inputs[i].contents;
    break;
  }
  kept = std::move(found);
}

void NonfiniteTracer::backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output,
                               const Tensor& dy, const std::vector<Tensor>& gradients) {
  const Uncounted apart;
  has_gone_back_ = true;
  if (!first_ && !last_is_finite_) first_ = first_known_;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].requires_grad()) continue;
    const Tensor &made = gradients[i], kept = inputs[i].grad();
    const bool made_bad = !all_finite(made);
    if (!made_bad && all_finite(kept)) continue;
    const std::string name = name_of(inputs[i]);
    if (first_bad_gradient_.empty()) first_bad_gradient_ = name;
    if (first_) continue;
    const Tensor& bad = made_bad ? made : kept;
    const char* const keeping = made.dtype() == kept.dtype() ? "add" : "cast";
    const Tensor& from = made_bad ? dy : made;
    first_ = BadTensor{BadTensor::Origin::backward,
                       made_bad ? op : keeping,
                       name.empty() ? places_[output.id()] : name,
                       bad.dtype(),
                       bad.shape(),
                       contents_of(bad),
                       {{"", from.dtype(), contents_of(from)}}};
  }
}

/// The layer before the ops that run again is the one where their inputs came from.
void NonfiniteTracer::begin_again(const std::vector<Tensor>& inputs) {
  constexpr std::string_view after = "after ";
  layer_.clear();
  for (const Tensor& x : inputs) {
    const auto place = places_.find(x.id());
    if (place == places_.end() || place->second.starts_with("before ")) continue;
    layer_ = place->second.substr(place->second.starts_with(after) ? after.size() : 0);
  }
}

void NonfiniteTracer::again(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) {
  follow(op.name, inputs, output);
}

void NonfiniteTracer::narrowed(const Narrowed& t) {
  const Uncounted apart;
  if (t.is_forward()) ++ops_;
  if (all_finite(t.after) || !all_finite(t.before)) return;
  const std::string weight = name_of(t.weight);
  BadTensor found{t.is_forward() ? BadTensor::Origin::forward : BadTensor::Origin::backward,
                  "quantize",
                  concat(layer_of(weight), " ", tinymp::name_of(t.kind)),
                  t.after.dtype(),
                  t.after.shape(),
                  contents_of(t.after),
                  {{"", t.before.dtype(), contents_of(t.before)}},
                  t.scale ? t.scale.item() : 1};
  if (!t.is_forward()) {
    if (!first_) first_ = std::move(found);
    return;
  }
  const Made made{ops_, std::isinf(found.contents.bad), found.contents.has_nan};
  origins_.push_back(made);
  std::optional<BadTensor>& kept = is_known(made) ? first_known_ : first_;
  if (!kept) kept = std::move(found);
}

}  // namespace tinymp
