#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/tensor_scaling.h>
#include <cmath>
#include <deque>
#include <optional>
#include <vector>

/// Scales of FP8 tensors against a restatement of what Transformer Engine and torchao do, from their sources. Here the
/// history moves by one place at each step, as theirs does.
namespace tinymp::test {
namespace {

constexpr float largest_float = std::numeric_limits<float>::max();

/// One tensor's history and scale under delayed scaling: delayed_scaling.cu, slot by slot.
class RolledHistory {
 public:
  RolledHistory(float largest, int margin, int length, bool most_recent)
      : scaled_max_(std::ldexp(largest, -margin)),
        most_recent_(most_recent),
        slots_(static_cast<std::size_t>(length), 0.0f) {}

  /// The amax of a step lies in slot 0 when the kernel runs.
  void run(float amax) {
    slots_[0] = amax;
    const float newest = slots_[0];
    float most = 0;
    for (const float one : slots_) most = std::fmaxf(most, one);
    const float used = most_recent_ ? newest : most;
    slots_.push_back(slots_.front());  // a roll by -1 ...
    slots_.pop_front();
    slots_.front() = 0;  // ... and slot 0 is for the next step
    if (std::isfinite(used) && used > 0) scale_ = scaled_max_ / used;
    if (std::isinf(scale_)) scale_ = largest_float;
  }
  float scale() const { return scale_; }

 private:
  float scaled_max_, scale_ = 1;
  bool most_recent_;
  std::deque<float> slots_;
};

float te_current(float amax, float largest) {
  if (std::isinf(amax) || std::isnan(amax) || amax == 0) return 1;
  const float scale = largest / amax;
  return std::isinf(scale) ? largest_float : scale;
}

float torchao_current(float amax, float largest) {
  const double clamped = std::isnan(amax) ? std::nan("") : std::max(static_cast<double>(amax), 1e-12);
  return static_cast<float>(static_cast<double>(largest) / clamped);
}

bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b) ||
         (std::isnan(a) && std::isnan(b));
}

/// An amax as training has it, and now and then one that it should not have; nothing for a step without the tensor.
std::optional<float> draw_amax(Rng& rng) {
  const std::uint64_t kind = rng.below(24), bits = rng.next_u64();
  if (kind == 0) return INFINITY;
  if (kind == 1) return NAN;
  if (kind <= 3) return 0.0f;
  if (kind <= 6) return std::nullopt;
  if (kind == 7)
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits >> 33) % 0x7f80'0000);  // any size
  if (kind == 8) return 0x1p-149f * static_cast<float>(bits % 64);  // its quotient is infinite
  return std::ldexp(1 + static_cast<float>(bits >> 41) * 0x1p-23f, static_cast<int>(rng.below(30)) - 20);
}

struct Corners {
  long infinite = 0, nan = 0, largest = 0, held = 0;
};

void follow_history(Rng& rng, Corners& corners) {
  static constexpr int lengths[] = {1, 2, 3, 7, 31, 1024};
  const int length = lengths[rng.below(std::size(lengths))];
  const int margin = static_cast<int>(rng.below(9)) - 4;
  const bool most_recent = rng.below(2) == 0;
  const float largest = rng.below(2) == 0 ? 448.0f : 57344.0f;
  const DelayedScaling policy{.largest = largest,
                              .margin = margin,
                              .history_length = length,
                              .algorithm = most_recent ? AmaxAlgorithm::most_recent : AmaxAlgorithm::max};
  std::vector<float> history(static_cast<std::size_t>(length));
  DelayedScale state;
  RolledHistory expected(largest, margin, length, most_recent);
  for (int step = 1; step <= 50; ++step) {
    const std::optional<float> amax = draw_amax(rng);
    const float before = state.scale;
    if (amax) {
      move_delayed_scale(policy, history.data(), *amax, state);
      expected.run(*amax);
      if (!same(te_current_scale(*amax, largest), te_current(*amax, largest)))
        FAIL("te-current of " << *amax);
      if (!same(torchao_current_scale(*amax, largest), torchao_current(*amax, largest)))
        FAIL("torchao-current of " << *amax);
    }
    if (!same(state.scale, expected.scale()))
      FAIL("step " << step << ", history " << length << ", margin " << margin << ": " << state.scale
                   << ", not " << expected.scale());
    corners.infinite += amax && std::isinf(*amax);
    corners.nan += amax && std::isnan(*amax);
    corners.largest += state.scale == largest_float;
    corners.held += amax && *amax > 0 && std::isfinite(*amax) && state.scale == before;
  }
}

TEST_CASE("tensor scaling: 10,000 random histories, with zero, infinity, NaN and steps without the tensor") {
  Rng rng(2209'05433);
  Corners corners;
  for (int i = 0; i < 10'000; ++i) follow_history(rng, corners);
  CHECK(corners.infinite > 1000);
  CHECK(corners.nan > 1000);
  CHECK(corners.largest > 1000);
  CHECK(corners.held > 1000);
}

TEST_CASE("tensor scaling: worked examples") {
  float history[2] = {};
  DelayedScale state;
  const DelayedScaling policy{.margin = 1, .history_length = 2};
  const auto after = [&](float amax) {
    move_delayed_scale(policy, history, amax, state);
    return state.scale;
  };
  CHECK(state.scale == 1);
  CHECK(after(2) == 112);  // 448 / 2 / 2
  CHECK(after(1) == 112);  // 2 still counts
  CHECK(after(1) == 224);
  CHECK(after(INFINITY) == 224);
  CHECK(after(7) == 224);  // the infinity still counts
  CHECK(after(NAN) == 32);
  CHECK(after(0) == 32);  // nothing but NaN and zero
  CHECK(after(0x1p-149f) == largest_float);

  CHECK(te_current_scale(0, 448) == 1);
  CHECK(te_current_scale(1e-40f, 448) == largest_float);
  CHECK(torchao_current_scale(0, 448) == 4.48e14f);
  CHECK(torchao_current_scale(INFINITY, 448) == 0);
  CHECK(std::isnan(torchao_current_scale(NAN, 448)));
}

static_assert(DelayedScaling{} == DelayedScaling{.largest = 448, .margin = 0, .history_length = 1024});
static_assert(delayed_scale_of({}, 3.5f, 1) == 128);

}  // namespace
}  // namespace tinymp::test
