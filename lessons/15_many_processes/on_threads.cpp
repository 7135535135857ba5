#include <lessons/15_many_processes/on_threads.h>
#include <tinymp/dist/threads.h>
#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace tinymp::lab {
namespace {

/// Rethrows the first that is no LostRank, else the first.
void rethrow(const std::vector<std::exception_ptr>& thrown) {
  std::exception_ptr lost;
  for (const std::exception_ptr& one : thrown) {
    if (!one) continue;
    try {
      std::rethrow_exception(one);
    } catch (const dist::LostRank&) {
      if (!lost) lost = one;
    }
  }
  if (lost) std::rethrow_exception(lost);
}

}  // namespace

train::Run train_on_ranks(Lab& lab, train::Plan plan, int ranks, std::unique_ptr<nn::Model>* keep) {
  const dist::ThreadRanks group(ranks);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::thread> others;
  const train::Plan completed = lab.complete(plan);
  for (int r = 1; r < ranks; ++r)
    others.emplace_back([&, r] {
      try {
        train::Plan own = completed;
        own.ranks = &group.at(r);
        static_cast<void>(train::run(own, ""));
      } catch (...) {
        thrown[static_cast<std::size_t>(r)] = std::current_exception();
      }
    });
  train::Run run;
  try {
    plan.ranks = &group.at(0);
    run = lab.train(std::move(plan), keep);
  } catch (...) {
    thrown[0] = std::current_exception();
  }
  for (std::thread& other : others) other.join();
  rethrow(thrown);
  return run;
}

}  // namespace tinymp::lab
