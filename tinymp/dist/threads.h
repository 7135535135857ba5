#pragma once

#include <tinymp/dist/transport.h>
#include <chrono>
#include <memory>

/// Ranks that are threads of one process: what ranks compute is tested on a machine without MPI. With one rank it is a process
/// that trains alone.
namespace tinymp::dist {

class ThreadRanks {
 public:
  /// A rank whose message does not come for `patience` is lost. Throws Error for less than one rank.
  explicit ThreadRanks(int ranks, std::chrono::milliseconds patience = std::chrono::minutes(1));
  ~ThreadRanks();
  ThreadRanks(const ThreadRanks&) = delete;
  ThreadRanks& operator=(const ThreadRanks&) = delete;

  /// For one thread at a time.
  Transport& at(int rank) const;

 private:
  struct Shared;
  class One;
  std::unique_ptr<Shared> shared_;
  std::vector<std::unique_ptr<One>> all_;
};

}  // namespace tinymp::dist
