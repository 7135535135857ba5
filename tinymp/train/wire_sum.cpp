#include <kernels/kernels.h>
#include <tinymp/train/wire_sum.h>
#include <algorithm>
#include <utility>

namespace tinymp::train {

WireSum::WireSum(const dist::Wire& wire, int ranks, std::vector<Tensor> parameters)
    : wire_(wire),
      ranks_(ranks),
      factor_(dist::predivide_factor(wire.divide, ranks)),
      parameters_(std::move(parameters)) {}

std::vector<dist::Part> WireSum::own() const {
  std::vector<dist::Part> parts;
  std::int64_t first = 0;
  for (const Tensor& p : parameters_) {
    if (p.grad()) {
      const Tensor rounded({p.size()}, wire_.format);
      View gradient = p.grad().view();
      gradient.shape = rounded.shape();
      dist::put_on_wire(gradient, factor_, rounded.view());
      parts.push_back({first, rounded});
    }
    first += p.size();
  }
  return parts;
}

Tensor WireSum::empty_sum() const {
  std::int64_t size = 0;
  for (const Tensor& p : parameters_) size += p.size();
  return Tensor({size}, wire_.format);
}

void WireSum::put_back(std::span<const dist::Part> parts, const Tensor& sum) const {
  std::int64_t first = 0;
  auto part = parts.begin();
  for (const Tensor& p : parameters_) {
    if (part != parts.end() && part->first == first) {
      kernels::cast(sum.slice(first, p.shape()).view(), p.bound_grad().view());
      p.set_grad(p.bound_grad());
      ++part;
    }
    first += p.size();
  }
}

Accumulated WireSum::mean_of(Accumulated sum) const {
  sum.micro_batches = dist::divisor_behind(sum.micro_batches, factor_);
  return sum;
}

Accumulated WireSum::accumulate_all(std::span<const std::int64_t> sizes, LossScaler& scaler,
                                    const BackwardOf& backward_of) const {
  const Tensor sum = empty_sum();
  const auto of_rank = static_cast<std::int64_t>(sizes.size()) / ranks_;
  std::vector<dist::Part> parts;
  const Accumulated all = accumulate(sizes, Device::cpu, scaler, [&](std::int64_t i, const Tensor& seed) {
    Tensor loss = backward_of(i, seed);
    if ((i + 1) % of_rank != 0) return loss;
    parts = own();
    for (const dist::Part& part : parts) {
      const View into = sum.slice(part.first, part.values.shape()).view();
      if (i + 1 == of_rank)
        kernels::cast(part.values.view(), into);
      else
        kernels::accumulate(part.values.view(), into);
    }
    for (const Tensor& p : parameters_) p.clear_grad();
    return loss;
  });
  put_back(parts, sum);
  return mean_of(all);
}

}  // namespace tinymp::train
