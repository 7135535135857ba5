#include <kernels/kernels.h>
#include <kernels/profile.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <map>
#include <mutex>
#include <tuple>

namespace tinymp::kernels {
namespace {

using Clock = std::chrono::steady_clock;

struct Total {
  std::int64_t calls = 0;
  Clock::duration time{};
};

std::mutex mutex;                                                           ///< two threads may train at once
std::map<std::tuple<std::string, std::string, std::string>, Total> totals;  ///< by kernel, operands, way

/// "(64,784) (784,128) (64,128)" -> "(64,784) (784,128) -> (64,128)"
void mark_result(std::string& operands) {
  const std::size_t last = operands.rfind(" (");
  if (last != std::string::npos) operands.insert(last, " ->");
}

}  // namespace

Profile::Profile() {
  const std::lock_guard lock(mutex);
  expect(!detail::profiling, "a profile is being taken already; one at a time");
  totals.clear();
  detail::profiling = true;
}

Profile::~Profile() { detail::profiling = false; }

std::vector<ProfileLine> Profile::lines() const {
  const std::lock_guard lock(mutex);
  std::vector<ProfileLine> lines;
  for (const auto& [key, total] : totals) {
    const auto& [kernel, operands, way] = key;
    lines.push_back({kernel, operands, way, total.calls, std::chrono::duration<double>(total.time).count()});
    mark_result(lines.back().operands);
  }
  std::ranges::stable_sort(lines,
                           [](const ProfileLine& a, const ProfileLine& b) { return a.seconds > b.seconds; });
  return lines;
}

namespace detail {

void describe(std::string& text, const View& view) {
  if (view.memory == nullptr) return;
  std::string extents;
  for (const std::int64_t extent : view.shape) extents += concat(extents.empty() ? "" : ",", extent);
  text += concat(text.empty() ? "(" : " (", extents, ")");
  if (view.dtype != DType::f32) text += concat(":", view.dtype);
}

void describe(std::string& text, Trans transposed) {
  if (transposed == Trans::yes) text += "^T";
}

void describe(std::string& text, const Epilogue& after) {
  if (after.bias.memory != nullptr) text += " + bias";
  if (after.activation) text += ", activation";
}

void TimedCall::end() noexcept {
  const Clock::duration time = Clock::now() - start_;
  const std::lock_guard lock(mutex);
  try {
    Total& total = totals[{kernel_, operands_, way}];
    ++total.calls;
    total.time += time;
  } catch (const std::bad_alloc&) {  // one call less in the table; the step itself goes on
  }
}

}  // namespace detail
}  // namespace tinymp::kernels
