#include <kernels/kernels.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/nn/module.h>
#include <tinymp/ops/ops.h>
#include <algorithm>
#include <optional>

namespace tinymp {
namespace {

const AutocastRule* find(std::span<const AutocastRule> rules, std::string_view op) {
  const auto found = std::ranges::find(rules, op, &AutocastRule::op);
  return found == rules.end() ? nullptr : &*found;
}

bool has_f64(std::span<const Tensor* const> operands) {
  return std::ranges::any_of(operands, [](const Tensor* x) { return x->dtype() == DType::f64; });
}

/// Returns the format that holds the values of all operands: their common format, or FP32 if their formats differ.
DType widest(std::span<const Tensor* const> operands) {
  const DType first = operands[0]->dtype();
  const bool same = std::ranges::all_of(operands, [&](const Tensor* x) { return x->dtype() == first; });
  return same ? first : DType::f32;
}

}  // namespace

Autocast::Autocast(DType format, std::vector<AutocastRule> exceptions)
    : format_(format), exceptions_(std::move(exceptions)), outer_(cast_policy()) {
  expect(format != DType::f64,
         "Autocast: the format is f64; choose f16 or bf16, or f32, under which nothing is cast");
  for (const AutocastRule& rule : exceptions_)
    expect(find(autocast_rules(), rule.op) != nullptr, "Autocast: an exception for \"", rule.op,
           "\", which is no op of ops.h");
  const auto* around = dynamic_cast<Autocast*>(outer_);
  copies_ = around != nullptr && around->format_ == format ? around->copies_ : std::make_shared<Copies>();
  set_cast_policy(format == DType::f32 ? nullptr : this);
}

Autocast::Autocast(const Autocast& region, Kept)
    : format_(region.format_), exceptions_(region.exceptions_), is_region_(false), copies_(region.copies_) {}

std::shared_ptr<CastPolicy> Autocast::kept() const { return std::make_shared<Autocast>(*this, Kept()); }

Autocast::~Autocast() {
  if (is_region_) set_cast_policy(outer_);
}

RunsIn Autocast::rule_of(std::string_view op) const {
  const AutocastRule* rule = find(exceptions_, op);
  if (rule == nullptr) rule = find(autocast_rules(), op);
  expect(rule != nullptr, op, ": is on no list of autocast; give it a rule in amp/autocast_lists.cpp");
  return rule->runs_in;
}

// <exercise recast>
Recast Autocast::recast(std::string_view op, std::span<const Tensor* const> operands) {
  const RunsIn runs_in = rule_of(op);
  if (runs_in == RunsIn::given || has_f64(operands)) return {};
  const DType format = runs_in == RunsIn::narrow ? format_
                       : runs_in == RunsIn::wide ? DType::f32
                                                 : widest(operands);
  if (std::ranges::all_of(operands, [&](const Tensor* x) { return x->dtype() == format; })) return {};
  std::vector<Tensor> as;
  for (const Tensor* x : operands) as.push_back(cast_of(*x, format));
  return Recast(std::move(as));
}
// </exercise recast>

// <exercise cast_once>
Tensor Autocast::cast_of(const Tensor& x, DType format) {
  const bool is_parameter = x.requires_grad() && x.is_leaf();
  if (x.dtype() == format || !is_parameter || format != format_) return cast(x, format);
  const std::uint64_t tape = Tape::current() == nullptr ? 0 : Tape::current()->number();
  if (copies_->tape != tape || copies_->changes != parameter_changes()) {
    copies_->by_id.clear();
    copies_->tape = tape;
    copies_->changes = parameter_changes();
  }
  const auto [place, is_new] = copies_->by_id.try_emplace(x.id());
  if (is_new) {
    const Tensor copy(x.shape(), format, x.device());
    kernels::cast(x.view(), copy.view());
    record("cast", {x}, copy, [](const Tensor& dy, const Needs&) { return std::vector{dy}; });
    // If the model uses the copy several times, the tape adds up the gradients in this buffer. The buffer has the
    // format of the parameter, which is wider than the format of the copy.
    const MemoryRegion of_gradients(MemoryKind::gradients);
    copy.bind_grad(Tensor::like(x));
    place->second = {x, copy};
    ++copies_->made;
  }
  return place->second.copy;
}
// </exercise cast_once>

}  // namespace tinymp
