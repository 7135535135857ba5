#include <tinymp/autograd/cast_policy.h>
#include <atomic>

namespace tinymp {
namespace {

std::atomic<std::uint64_t> changes = 0;

}  // namespace

Recast recast(std::string_view op, const std::vector<Tensor>& operands) {
  if (cast_policy() == nullptr) return {};
  std::vector<const Tensor*> all;
  for (const Tensor& x : operands) all.push_back(&x);
  return cast_policy()->recast(op, all);
}

void parameters_changed() { changes.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t parameter_changes() { return changes.load(std::memory_order_relaxed); }

}  // namespace tinymp
