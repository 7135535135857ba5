#include <kernels/kernels.h>
#include <tinymp/amp/tensor_scales.h>
#include <algorithm>
#include <cmath>

namespace tinymp {
namespace {

Cell<float> cell(const Tensor& scalar) { return {scalar.view().data<float>(), scalar.device()}; }

Tensor filled(const Shape& shape, DType dtype, Device device, double value) {
  Tensor x(shape, dtype, device);
  kernels::fill(x.view(), value);
  return x;
}

Tensor copy_of(const Tensor& x, Device where) {
  Tensor copy(x.shape(), x.dtype(), where);
  kernels::cast(x.to(where).view(), copy.view());
  return copy;
}

}  // namespace

void expect_possible(const DelayedScaleState& state) {
  if (!state.history) return;
  const std::int64_t length = state.history.shape()[1];
  for (const double next : state.next.to_doubles())
    expect(next >= 0 && next < static_cast<double>(length) && next == std::floor(next), "place ", next,
           " in a history of ", length, " steps; take another copy of the state");
  for (const float scale : state.scale.to_floats())
    expect(scale > 0 && std::isfinite(scale), "a delayed scale of ", scale,
           "; it is above 0 and finite: take another copy of the state");
}

TensorScales::TensorScales(const EightBits& how, std::size_t weights, Device device)
    : how_(how), count_(weights) {
  if (weights == 0) how_.scaling = TensorScaling::none;
  const auto tensors = static_cast<std::int64_t>(weights * roles);
  if (how_.scaling == TensorScaling::delayed) {
    state_ = {filled({tensors, how.history}, DType::f32, device, 0), filled({tensors}, DType::f64, device, 0),
              filled({tensors}, DType::f32, device, 1)};
    amax_ = filled({tensors}, DType::f32, device, -1);
  } else if (any()) {
    uses_.resize(weights * roles);
    last_.resize(weights * roles);
  }
}

void TensorScales::begin_step() {
  expect(!in_step_ || !amax_,
         "Float8Products: a step begins, and the one before it has not ended; call "
         "end_step() after backward, for delayed scales move there");
  in_step_ = true;
  if (amax_)  // they were made before the first step; a run's account counts them from there
    for (const Tensor& x : {state_.history, state_.next, state_.scale, amax_})
      x.count_as(MemoryKind::optimizer);
  std::ranges::fill(last_, std::size_t{0});
}

void TensorScales::end_step() {
  in_step_ = false;
  if (!amax_) return;
  move(0, errors * count_, how_.forward);
  move(errors * count_, roles * count_, how_.backward);
}

void TensorScales::move(std::size_t from, std::size_t to, DType format) const {
  const auto begin = static_cast<std::int64_t>(from), rows = static_cast<std::int64_t>(to - from);
  const auto part = [&](const Tensor& all) { return all.slice(begin, {rows}).view(); };
  const std::int64_t length = how_.history;
  kernels::move_delayed_scales(how_.delayed(format), part(amax_),
                               state_.history.slice(begin * length, {rows, length}).view(), part(state_.next),
                               part(state_.scale));
}

void TensorScales::drop_step() {
  in_step_ = false;
  if (amax_) kernels::fill(amax_.view(), -1);
}

Tensor TensorScales::scale_for(const Tensor& x, std::size_t weight, Role role, std::size_t use, bool counts) {
  if (!any()) return {};
  const std::size_t at = place(weight, role);
  const bool measured = counts && in_step_;
  if (amax_) {
    const auto row = static_cast<std::int64_t>(at);
    if (measured) kernels::raise_amax(x.view(), cell(amax_.slice(row, {})));
    return state_.scale.slice(row, {});
  }
  if (measured) {
    last_[at] = use + 1;
    if (uses_[at].size() <= use) uses_[at].resize(use + 1);
  }
  Use own = measured ? uses_[at][use] : Use{};
  if (!own.amax) own = {Tensor({}, DType::f32, x.device()), Tensor({}, DType::f32, x.device())};
  if (measured) uses_[at][use] = own;
  const auto find_amax = how_.scaling == TensorScaling::torchao ? kernels::amax_or_nan : kernels::amax;
  find_amax(x.view(), cell(own.amax));
  kernels::current_scale(how_.scaling, EightBits::largest_of(format_of(role)), cell(own.amax),
                         cell(own.scale));
  return own.scale;
}

TensorScales::Newest TensorScales::newest(std::size_t weight, Role role) const {
  const std::size_t at = place(weight, role);
  const auto value = [](const Tensor& scalar) { return static_cast<float>(scalar.item()); };
  if (amax_) {
    const auto row = static_cast<std::int64_t>(at);
    const auto next = static_cast<std::int64_t>(state_.next.slice(row, {}).item());
    const std::int64_t before = next == 0 ? how_.history - 1 : next - 1;
    return {value(state_.scale.slice(row, {})), value(state_.history.slice(row * how_.history + before, {}))};
  }
  if (!any() || last_[at] == 0) return {};
  const Use& own = uses_[at][last_[at] - 1];
  return {value(own.scale), value(own.amax)};
}

DelayedScaleState TensorScales::state(Device where) const {
  if (!amax_) return {};
  return {copy_of(state_.history, where), copy_of(state_.next, where), copy_of(state_.scale, where)};
}

void TensorScales::restore(const DelayedScaleState& from) {
  const bool fits =
      static_cast<bool>(from.history) == static_cast<bool>(amax_) &&
      (!amax_ || (from.history.shape() == state_.history.shape() &&
                  from.next.shape() == state_.next.shape() && from.scale.shape() == state_.scale.shape()));
  const auto shape_of = [](const Tensor& history) { return history ? concat(history.shape()) : "()"; };
  expect(fits, "the state has delayed scales with histories", shape_of(from.history), ", and the model",
         shape_of(state_.history), "; take the state of a run with this model and recipe");
  drop_step();
  if (!amax_) return;
  expect_possible(from);
  const auto copy = [](const Tensor& source, const Tensor& to) {
    kernels::cast(source.to(to.device()).view(), to.view());
  };
  copy(from.history, state_.history);
  copy(from.next, state_.next);
  copy(from.scale, state_.scale);
}

}  // namespace tinymp
