#include <lessons/15_many_processes/on_threads.h>
#include <tinymp/dist/threads.h>
#include <algorithm>
#include <cstdlib>
#include <exception>
#include <filesystem>
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

/// A folder for the log of a run that is no part of the report, and may have no end.
struct Aside {
  Aside() {
    if (mkdtemp(path.data()) == nullptr) throw Error(concat("cannot make a folder like ", path));
  }
  ~Aside() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Aside(const Aside&) = delete;
  Aside& operator=(const Aside&) = delete;

  std::string path = (std::filesystem::temp_directory_path() / "tinymp-ranks-XXXXXX").string();
};

}  // namespace

train::Run train_on_ranks(Lab& lab, train::Plan plan, int ranks, Models* models, Report report) {
  const dist::ThreadRanks group(ranks);
  Models own(static_cast<std::size_t>(ranks));
  Models& kept = models == nullptr ? own : *models;
  kept.resize(static_cast<std::size_t>(ranks));
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(ranks));
  const train::Plan completed = lab.complete(plan);
  const Aside aside;
  const auto take_part = [&](int rank) {
    const auto place = static_cast<std::size_t>(rank);
    try {
      train::Plan of_rank = rank == 0 ? plan : completed;
      of_rank.ranks = &group.at(rank);
      if (rank > 0) return train::run(of_rank, "", {}, &kept[place]);
      if (report == Report::yes) return lab.train(std::move(of_rank), &kept[place]);
      return lab.train_apart(lab.complete(std::move(of_rank)), aside.path + "/log.jsonl");
    } catch (...) {
      thrown[place] = std::current_exception();
      return train::Run();
    }
  };
  std::vector<std::thread> others;
  for (int r = 1; r < ranks; ++r) others.emplace_back(take_part, r);
  train::Run run = take_part(0);
  for (std::thread& other : others) other.join();
  rethrow(thrown);
  return run;
}

std::vector<std::uint8_t> bits_of(const nn::Model& model) {
  std::vector<std::uint8_t> bits;
  for (const nn::Parameter& p : model.parameters()) {
    const View view = p.value.view();
    const auto* const begin = view.data<std::uint8_t>();
    bits.insert(bits.end(), begin, begin + static_cast<std::size_t>(view.size()) * size_of(view.dtype));
  }
  return bits;
}

bool are_one(const Models& models) {
  return std::ranges::all_of(models,
                             [&](const auto& model) { return bits_of(*model) == bits_of(*models.front()); });
}

}  // namespace tinymp::lab
