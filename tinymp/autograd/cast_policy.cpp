#include <tinymp/autograd/cast_policy.h>
#include <atomic>

namespace tinymp {
namespace {

std::atomic<std::uint64_t> changes = 0;

}  // namespace

void parameters_changed() { changes.fetch_add(1, std::memory_order_relaxed); }
std::uint64_t parameter_changes() { return changes.load(std::memory_order_relaxed); }

}  // namespace tinymp
