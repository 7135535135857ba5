#include <lessons/lab/bench/race.h>
#include <tinymp/base/error.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <thread>

namespace tinymp::kernels::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int most_runs = 100'000;

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }  // of all threads

/// How often one contender runs. Its second run shows how long it takes: the first may load a library, compile or record.
struct Share {
  int runs = 1, samples = 0;
};
Share share_of(const Contender& contender, const RaceRules& rules) {
  contender.seconds(1);
  const double once = contender.seconds(1);
  const double wanted = std::ceil(rules.sample_seconds / std::max(once, 1e-9));
  const int runs = static_cast<int>(std::clamp(wanted, 1.0, static_cast<double>(most_runs)));
  const double affordable = std::floor(rules.patience / std::max(once * runs, 1e-9));
  const int least = once > rules.patience ? 1 : std::min(rules.least, rules.rounds);
  return {runs, static_cast<int>(
                    std::clamp(affordable, static_cast<double>(least), static_cast<double>(rules.rounds)))};
}

/// Whether a contender with so many samples takes part in a round. The samples are spread evenly over the
/// rounds.
bool takes_part(int round, int samples, int rounds) {
  return (round + 1) * samples / rounds > round * samples / rounds;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<Timing> race(std::span<const Contender> contenders, const RaceRules& rules) {
  std::vector<Timing> timings(contenders.size());
  std::vector<Share> shares(contenders.size());
  std::vector<std::vector<double>> samples(contenders.size());
  const auto unless_out = [&](std::size_t i, const auto& work) {
    if (!timings[i].fault.empty()) return;
    try {
      work();
    } catch (const Error& error) {
      timings[i].fault = concat("not timed: ", error.what());
    }
  };
  for (std::size_t i = 0; i < contenders.size(); ++i)
    unless_out(i, [&] { shares[i] = share_of(contenders[i], rules); });
  for (int round = 0; round < rules.rounds; ++round) {
    for (std::size_t i = 0; i < contenders.size(); ++i) {
      if (takes_part(round, shares[i].samples, rules.rounds))
        unless_out(i, [&] { samples[i].push_back(contenders[i].seconds(shares[i].runs)); });
    }
  }
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    if (!timings[i].fault.empty()) continue;
    timings[i] = {median(samples[i]), *std::ranges::min_element(samples[i]),
                  static_cast<int>(samples[i].size()), shares[i].runs};
  }
  return timings;
}

void wait_for_threads() {
  constexpr auto moment = std::chrono::milliseconds(2);
  for (int i = 0; i < 100; ++i) {
    const double before = cpu_seconds();
    std::this_thread::sleep_for(moment);
    if (cpu_seconds() - before < 0.0004) return;
  }
}

double seconds_of(const std::function<void()>& work, int runs, const std::function<void()>& wait) {
  wait_for_threads();
  if (runs > 1) work();
  wait();
  const auto start = Clock::now();
  for (int i = 0; i < runs; ++i) work();
  wait();
  return std::chrono::duration<double>(Clock::now() - start).count() / runs;
}

}  // namespace tinymp::kernels::bench
