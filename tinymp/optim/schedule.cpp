#include <tinymp/base/error.h>
#include <tinymp/numeric/cos_pi.h>
#include <tinymp/optim/schedule.h>

namespace tinymp {

float Schedule::at(std::int64_t step) const {
  expect(step >= 1 && step <= steps, "Schedule::at: there is no step ", step, " in a run of ", steps);
  const auto share = [](std::int64_t part, std::int64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  if (step <= warmup) return static_cast<float>(static_cast<double>(lr) * share(step, warmup + 1));
  switch (kind) {
    case ScheduleKind::constant:
      return lr;
    case ScheduleKind::step: {
      const double done = share(step - 1, steps);
      return done < 0.5 ? lr : done < 0.75 ? lr / 10 : lr / 100;
    }
    case ScheduleKind::cosine: {
      const double half_wave = cos_pi(share(step - 1 - warmup, steps - warmup));
      return static_cast<float>(static_cast<double>(lr) * 0.5 * (1 + half_wave));
    }
  }
  return lr;
}

}  // namespace tinymp
