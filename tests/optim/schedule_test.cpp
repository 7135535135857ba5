#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/optim/schedule.h>
#include <cmath>

namespace tinymp::test {
namespace {

TEST_CASE("Schedule: constant") {
  const Schedule schedule{.lr = 0.1f, .steps = 5};
  for (std::int64_t t = 1; t <= 5; ++t) CHECK(schedule.at(t) == 0.1f);
  CHECK_SAYS("Schedule::at: there is no step 0 in a run of 5", schedule.at(0));
  CHECK_SAYS("Schedule::at: there is no step 6 in a run of 5", schedule.at(6));
}

// He et al. 2015, section 4.2: "We start with a learning rate of 0.1, divide it by 10 at 32k and 48k
// iterations, and terminate training at 64k iterations".
TEST_CASE("Schedule: step, as ResNet was trained") {
  const Schedule schedule{.kind = ScheduleKind::step, .lr = 0.1f, .steps = 64'000};
  CHECK(schedule.at(1) == 0.1f);
  CHECK(schedule.at(32'000) == 0.1f);
  CHECK(schedule.at(32'001) == 0.1f / 10);
  CHECK(schedule.at(48'000) == 0.1f / 10);
  CHECK(schedule.at(48'001) == 0.1f / 100);
  CHECK(schedule.at(64'000) == 0.1f / 100);
}

TEST_CASE("Schedule: cosine, against the C library in long double") {
  const long double pi = std::acos(-1.0L);
  for (const std::int64_t warmup : {0, 20}) {
    const Schedule schedule{.kind = ScheduleKind::cosine, .lr = 0.3f, .steps = 1000, .warmup = warmup};
    CHECK(schedule.at(warmup + 1) == 0.3f);
    CHECK(schedule.at(warmup + 1 + (1000 - warmup) / 2) == 0.15f);
    for (std::int64_t t = warmup + 1; t <= 1000; ++t) {
      const long double p =
          static_cast<long double>(t - 1 - warmup) / static_cast<long double>(1000 - warmup);
      const auto expected =
          static_cast<double>(0.5L * static_cast<long double>(0.3f) * (1 + std::cos(pi * p)));
      REQUIRE(static_cast<double>(schedule.at(t)) == Approx(expected).epsilon(1e-7));
      if (t > warmup + 1) REQUIRE(schedule.at(t) < schedule.at(t - 1));
    }
    CHECK(schedule.at(1000) > 0);
    CHECK(schedule.at(1000) < 1e-5f * 0.3f);
  }
}

TEST_CASE("Schedule: warm-up in equal parts, then what would be without") {
  for (const ScheduleKind kind : {ScheduleKind::constant, ScheduleKind::step, ScheduleKind::cosine}) {
    const Schedule schedule{.kind = kind, .lr = 0.8f, .steps = 100, .warmup = 3};
    CHECK(schedule.at(1) == 0.2f);
    CHECK(schedule.at(2) == 0.4f);
    CHECK(schedule.at(3) == 0.6f);  // of 0.8f, 3/4 rounded once
    CHECK(schedule.at(4) == 0.8f);
  }
  CHECK(Schedule{.kind = ScheduleKind::step, .lr = 1, .steps = 100, .warmup = 60}.at(61) == 0.1f);
  // A warm-up longer than the run never arrives.
  CHECK(Schedule{.kind = ScheduleKind::cosine, .lr = 1, .steps = 3, .warmup = 7}.at(3) == 0.375f);
}

}  // namespace
}  // namespace tinymp::test
