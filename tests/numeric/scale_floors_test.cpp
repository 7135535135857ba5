#include <tests/amp/scaler_model.h>
#include <tests/catch.h>
#include <tinymp/base/error.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/loss_scaling.h>
#include <cmath>
#include <map>

/// Dynamic and enhanced scaling, step by step, against the model of GradScaler and a map of floors.
namespace tinymp::test {
namespace {

struct Course {
  DynamicScaling policy;
  ScaleFloors floors;
  std::map<std::int64_t, float> floor_from;  ///< the same floors
};

Course draw_course(Rng& rng) {
  static constexpr float starts[] = {65536, 1, 0x1p100f, 3e38f, 1e-30f, 24, 1000.5f};
  static constexpr double growths[] = {2, 2, 1.5, 1.1, 4, 1.0000001},
                          backoffs[] = {0.5, 0.5, 0.7, 0.9, 0.1, 1e-12};
  static constexpr int intervals[] = {1, 2, 3, 5, 20};
  Course course;
  course.policy.initial = starts[rng.below(std::size(starts))];
  course.policy.growth = growths[rng.below(std::size(growths))];
  course.policy.backoff = backoffs[rng.below(std::size(backoffs))];
  course.policy.growth_interval = intervals[rng.below(std::size(intervals))];
  const auto count = static_cast<std::int32_t>(rng.below(ScaleFloors::most + 1));
  std::int64_t step = 0;
  float value = course.policy.initial * 0x1p-10f;
  for (std::int32_t i = 0; i < count; ++i) {
    step += 1 + static_cast<std::int64_t>(rng.below(20));
    value *= 1 + static_cast<float>(rng.below(4));
    if (!std::isfinite(value)) value = std::numeric_limits<float>::max();
    course.floors.at[course.floors.count++] = {step, value};
    course.floor_from[step] = value;
  }
  return course;
}

struct Met {
  long floored = 0, lifted = 0, above = 0;
};

/// Compares the states of 100 steps.
void follow(const Course& course, Rng& rng, Met& met) {
  const DynamicScaling& p = course.policy;
  const LossScaling dynamic = p, enhanced = EnhancedScaling{.dynamic = p, .floor = course.floors};
  REQUIRE(fault_of(course.floors).empty());
  ScaleState plain = first_state(dynamic), floored = first_state(enhanced);
  ScalerModel model{p.initial, p.growth, p.backoff, p.growth_interval}, floor_model = model;
  const float often = rng.uniform(0, 0.6f);
  for (std::int64_t step = 1; step <= 100; ++step) {
    const bool bad = rng.uniform(0, 1) < often;
    plain.bad = floored.bad = bad;
    plain = next_state(dynamic, plain);
    floored = next_state(enhanced, floored);
    model.update({bad});
    const float before = floor_model.scale;
    floor_model.update({bad});
    const auto above = course.floor_from.upper_bound(step);
    if (bad && above != course.floor_from.begin()) {
      const float floor = std::prev(above)->second;
      if (floor_model.scale < floor) {
        met.floored += 1;
        met.lifted += floor > before;
        floor_model.scale = floor;
      } else {
        met.above += 1;
      }
    }
    if (plain != ScaleState{.scale = model.scale, .growth_tracker = model.tracker})
      FAIL("dynamic, step " << step << ": " << plain.scale << ", not " << model.scale);
    if (floored !=
        ScaleState{.scale = floor_model.scale, .growth_tracker = floor_model.tracker, .steps = step})
      FAIL("enhanced, step " << step << ": " << floored.scale << ", not " << floor_model.scale);
  }
}

TEST_CASE("scaling: dynamic and enhanced on 10,000 random sequences, against models") {
  Rng rng(1905'12334);
  Met met;
  for (int i = 0; i < 10'000; ++i) {
    const Course course = draw_course(rng);
    follow(course, rng, met);
  }
  CHECK(met.floored > 10'000);
  CHECK(met.lifted > 1000);
  CHECK(met.above > 10'000);
}

TEST_CASE("scaling: a floor that rises lifts S at the next overflow, and not before") {
  const EnhancedScaling policy{.dynamic = {.initial = 64, .growth_interval = 1000},
                               .floor = scale_floors_from("2:8,4:128")};
  ScaleState state = first_state(policy);
  const auto after = [&](bool bad) {
    state.bad = bad;
    move_scale(policy, state);
    return state.scale;
  };
  CHECK(after(true) == 32);  // step 1 has no floor
  CHECK(after(true) == 16);  // the floor is 8
  CHECK(after(false) == 16);
  CHECK(after(false) == 16);  // the floor is 128 from here on
  CHECK(after(true) == 128);
  CHECK(after(true) == 128);
  CHECK(state.steps == 6);
}

TEST_CASE("scaling: floors as text") {
  const ScaleFloors floors = scale_floors_from("1:0.1,40000:8192,150000:32768");
  CHECK(floors.count == 3);
  CHECK(floors.at[1] == ScaleFloor{40000, 8192});
  CHECK(to_text(floors) == "1:0.1,40000:8192,150000:32768");
  CHECK(scale_floors_from(to_text(floors)) == floors);
  CHECK(scale_floors_from("") == ScaleFloors{});
  CHECK(to_text({}).empty());
  CHECK(floors.of_step(39'999) == 0.1f);
  CHECK(floors.of_step(40'000) == 8192);
  CHECK(describe(EnhancedScaling{.floor = floors}) ==
        "S enhanced from 65536, at least 0.100000001 from step 1, 8192 from step 40000, 32768 from step "
        "150000");
  for (const char* const wrong : {"8192",
                                  "1:",
                                  ":8",
                                  "1:8,",
                                  ",1:8",
                                  "1:8 ,2:9",
                                  "0:8",
                                  "-1:8",
                                  "2:8,2:9",
                                  "2:8,1:9",
                                  "1:8,2:7",
                                  "1:0",
                                  "1:-1",
                                  "1:inf",
                                  "1:nan",
                                  "1:1e39",
                                  "1:0x10",
                                  "1.5:8",
                                  "1:8:9",
                                  "99999999999999999999:1",
                                  "1:1,2:1,3:1,4:1,5:1,6:1,7:1,8:1,9:1"}) {
    INFO(wrong);
    CHECK_THROWS_AS(scale_floors_from(wrong), UsageError);
  }
  CHECK(fault_of({.at = {{1, 8}, {1, 8}}, .count = 2}) == "step 1 follows step 1; steps must rise");
  CHECK_FALSE(fault_of({.count = 9}).empty());
}

}  // namespace
}  // namespace tinymp::test
