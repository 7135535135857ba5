#include <tests/train/rig.h>
#include <tinymp/dist/collectives.h>
#include <tinymp/dist/mpi.h>
#include <tinymp/train/checkpoint.h>
#include <csignal>
#include <cstdlib>
#include <iostream>
#include <thread>

// What mpi_test.sh and link_test.sh start with mpirun: mpi_ranks collectives | large | gather BYTES | train DIR |
// meet RANK SIGNAL | slow | unlike, and alone: mpi_ranks alone. Rank 0 prints what was found; a rank that finds a fault says so
// and ends all.
namespace {

using namespace tinymp;
using dist::Transport;

void collectives(Transport& ranks) {
  for (int round = 0; round < 200; ++round) {
    const std::string own(static_cast<std::size_t>(ranks.rank() * round),
                          static_cast<char>('a' + ranks.rank()));
    const std::vector<std::string> all = dist::all_gather(ranks, own);
    for (int r = 0; r < ranks.ranks(); ++r)
      expect(all[static_cast<std::size_t>(r)] ==
                 std::string(static_cast<std::size_t>(r * round), static_cast<char>('a' + r)),
             "all_gather: wrong text of rank ", r);
    expect(dist::largest(ranks, ranks.rank() == round % ranks.ranks() ? 1000 + round : 3) == 1000 + round,
           "largest: wrong");
    expect(dist::broadcast(ranks, concat(ranks.rank(), ":", round), round % ranks.ranks()) ==
               concat(round % ranks.ranks(), ":", round),
           "broadcast: wrong");
  }
  dist::barrier(ranks);
}

/// Messages of 24 MB, which MPI does not hold for a receiver that is not there yet, in both directions at once.
void large(Transport& ranks) {
  const std::int64_t size = 3'000'001;
  const Tensor values({size}), sum({size});
  for (std::int64_t i = 0; i < size; ++i)
    values.data<float>()[i] = static_cast<float>(i % 1000) * static_cast<float>(ranks.rank() + 1);
  const std::vector<dist::Part> parts{{0, values}, {0, values}};
  dist::sum_in_rank_order(ranks, parts, sum.view());
  const int n = ranks.ranks();
  for (std::int64_t i = 0; i < size; ++i)
    expect(sum.data<float>()[i] == static_cast<float>(i % 1000) * static_cast<float>(n * (n + 1)),
           "sum: wrong at ", i);
}

/// Each rank sends all others so many bytes.
void gather(Transport& ranks, std::size_t bytes) {
  const std::vector<std::byte> own(bytes, static_cast<std::byte>(ranks.rank() + 1));
  const std::vector<std::vector<std::byte>> all = dist::all_gather(ranks, own);
  for (std::size_t r = 0; r < all.size(); ++r)
    expect(all[r] == std::vector<std::byte>(bytes, static_cast<std::byte>(r + 1)),
           "gather: wrong bytes of rank ", r);
}

void train_here(Transport& ranks, const std::string& folder) {
  const data::Split data = test::made_up_split();
  train::Plan plan = test::small_plan(data, recipes::fp16_dynamic);
  plan.micro_batches = 4;
  plan.batch = 6;
  plan.saves = true;
  plan.ranks = &ranks;
  const train::Run run = train::run(plan, folder + "/run.jsonl");
  expect(run.result.has_value() == (ranks.rank() == 0), "train: another rank than the first has a result");
  if (run.result) std::cout << "weights " << run.result->weights << "\n";
}

/// The hash that `train` has to end in.
void train_alone() {
  const data::Split data = test::made_up_split();
  train::Plan plan = test::small_plan(data, recipes::fp16_dynamic);
  plan.micro_batches = 4;
  plan.batch = 6;
  plan.saves = true;
  test::Scratch scratch;
  std::cout << "weights " << train::run(plan, scratch.next()).result->weights << "\n";
}

/// All ranks meet again and again; after a while one gets a signal, or fails.
void meet(Transport& ranks, int odd, int signal) {
  for (int round = 0; round < 10'000; ++round) {
    if (round == 20 && ranks.rank() == odd) {
      if (signal == 0) {
        ranks.fail("the disk is full");
        throw Error("the disk is full");
      }
      std::raise(signal);
    }
    dist::barrier(ranks);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

int run(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "alone") return train_alone(), 0;
  const std::unique_ptr<Transport> ranks = dist::join_mpi({.silence = std::chrono::seconds(3)});
  try {
    if (what == "collectives") collectives(*ranks);
    if (what == "large") large(*ranks);
    if (what == "gather") gather(*ranks, static_cast<std::size_t>(std::atoll(argv[2])));
    if (what == "train") train_here(*ranks, argv[2]);
    if (what == "meet") meet(*ranks, std::atoi(argv[2]), std::atoi(argv[3]));
    if (what == "slow" && ranks->rank() == 1)
      std::this_thread::sleep_for(std::chrono::seconds(5));  // but it runs
    if (what == "slow") dist::barrier(*ranks);
    if (what == "unlike") dist::all_gather(*ranks, std::vector<std::byte>(ranks->rank() == 1 ? 5 : 4));
    if (ranks->rank() == 0) std::cout << "all of " << ranks->ranks() << " ranks agree" << std::endl;
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "rank " << ranks->rank() << " says: " << error.what() << std::endl;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));  // the others speak, too
    dist::end_all(1);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 3;
  }
}
