#pragma once

#include <mpi.h>
#include <tinymp/dist/mpi.h>
#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

/// How ranks learn that one of them is lost. A thread of each process tells the others that it runs, and moves messages on
/// while the program computes.
/// Nothing in this folder waits inside of MPI: a process that hangs there could not tell which rank it waits for. All calls
/// begin something or ask whether it is over, and one mutex lets one thread at a time in, as MPI_THREAD_SERIALIZED wants it.
namespace tinymp::dist {

enum Tag : int { data_tag = 1, beat_tag = 2, failure_tag = 3 };

/// Throws Error with MPI's own words unless the code is MPI_SUCCESS.
void check(int code, const char* call);

/// Messages under way. move() looks at what has arrived; the caller holds the mutex.
struct Moving {
  virtual void move() = 0;
  bool is_awaited = false;  ///< the program waits for it, and moves it

 protected:
  ~Moving() = default;
};

class Beats {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Beats(const MpiOptions& options);
  ~Beats();
  Beats(const Beats&) = delete;
  Beats& operator=(const Beats&) = delete;

  /// Throws LostRank when one is lost.
  void expect_all_here();
  /// Tells all others once; the first failure of a rank is the one that counts.
  void fail(const std::string& message);

  // These are for a caller that holds the mutex.
  void hear(int from) { heard_[static_cast<std::size_t>(from)] = Clock::now(); }  ///< it has sent something
  void add(Moving& messages) { under_way_.push_back(&messages); }
  void remove(Moving& messages) { std::erase(under_way_, &messages); }

  std::mutex mutex;
  int rank = 0, ranks = 1;

 private:
  void beat();
  void tell_all(const char* beat);
  void listen();
  void look_for_silence(Clock::time_point now);
  bool all_have_left() const;
  std::chrono::microseconds until_next_look();

  MpiOptions options_;
  std::vector<Moving*> under_way_;
  std::vector<Clock::time_point> heard_;
  Clock::time_point looked_ = Clock::now(), looks_often_until_{};
  std::vector<bool> has_left_;
  std::vector<MPI_Request> told_;
  std::optional<LostRank> lost_{};
  std::string failure_{};  ///< what told_ sends
  std::atomic<bool> ends_ = false;
  bool said_good_bye_ = false;
  std::thread beating_;
};

}  // namespace tinymp::dist
