#ifdef __linux__
#include <sched.h>
#endif

#include <tinymp/base/error.h>
#include <tinymp/base/memory_account.h>
#include <tinymp/base/parallel_for.h>
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tinymp {
namespace {

thread_local bool inside_parallel_for = false;

/// Spreads the threads of a loop over the processors. Some systems (virtual machines above all) wake two
/// threads on one processor and take longer to move one of them than the loop runs.
class CpuPlacement {
 public:
  /// Moves the calling thread to a free processor. With more threads than processors the system decides.
  void take() {
#ifdef __linux__
    const int here = sched_getcpu();
    cpu_set_t allowed;
    if (here < 0 || claim(here) || sched_getaffinity(0, sizeof allowed, &allowed) != 0 ||
        CPU_COUNT(&allowed) < threads())
      return;
    for (int cpu = 0; cpu < most; ++cpu) {
      if (!CPU_ISSET(cpu, &allowed) || !claim(cpu)) continue;
      cpu_set_t there;
      CPU_ZERO(&there);
      CPU_SET(cpu, &there);
      // The first call moves the thread at once; the second lets the system move it again.
      if (sched_setaffinity(0, sizeof there, &there) == 0) sched_setaffinity(0, sizeof allowed, &allowed);
      return;
    }
#endif
  }

 private:
  static constexpr int most = 64;
  /// True when no other thread has this CPU; CPUs beyond `most` are not counted.
  bool claim(int cpu) {
    if (cpu >= most) return true;
    const std::uint64_t seat = std::uint64_t{1} << cpu;
    if ((taken_.load(std::memory_order_relaxed) & seat) != 0) return false;
    return (taken_.fetch_or(seat, std::memory_order_relaxed) & seat) == 0;
  }
  std::atomic<std::uint64_t> taken_{0};
};

/// One loop that the threads share. Each thread takes the next piece until none is left.
struct Loop {
  std::int64_t n, grain;
  detail::RangeBody body;
  void* context;
  const MemoryRegion* region = MemoryRegion::current();  ///< of the caller
  CpuPlacement placement{};
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;

  /// A worker that wakes late may find no piece left. Then it needs no processor either.
  void start_late() {
    if (next.load(std::memory_order_relaxed) >= n) return;
    placement.take();
    MemoryRegion::set_current(region);
    work();
    MemoryRegion::set_current(nullptr);
  }

  void work() {
    const bool outer = inside_parallel_for;
    inside_parallel_for = true;
    for (std::int64_t begin; !failed && (begin = next.fetch_add(grain)) < n;) {
      try {
        body(context, begin, std::min(n, begin + grain));
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
    inside_parallel_for = outer;
  }
};

/// Threads that sleep between loops. The caller of run() works too, so n threads mean n - 1 workers.
class ThreadPool {
 public:
  explicit ThreadPool(int workers) {
    try {
      for (int i = 0; i < workers; ++i) workers_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
      stop();
      throw MissingError(
          concat("the system gives this program no more than ", workers_.size() + 1,
                 " threads; ask for fewer: TINYMP_THREADS=", std::min<std::size_t>(workers_.size() + 1, 8)));
    }
  }

  ~ThreadPool() { stop(); }

  int workers() const { return static_cast<int>(workers_.size()); }

  void run(Loop& loop) {
    loop.placement.take();
    bool sleepers = false;
    {
      const std::lock_guard lock(mutex_);
      loop_ = &loop;
      sleepers = sleeping_ > 0;
      ticket_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    if (sleepers) std::this_thread::yield();  // lets workers that wake on this processor move away
    loop.work();
    {
      const std::lock_guard lock(mutex_);
      loop_ = nullptr;  // a worker that wakes only now finds nothing to do, and no loop waits for it
    }
    while (busy_.load(std::memory_order_acquire) != 0) std::this_thread::yield();
  }

 private:
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
      ticket_.fetch_add(1, std::memory_order_release);
    }
    wake_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  void serve() {
    std::uint64_t seen = 0;
    for (;;) {
      // A training step is many short loops: look for the next one for a moment before going to sleep.
      for (int spin = 0; spin < 200 && ticket_.load(std::memory_order_acquire) == seen; ++spin) {
        std::this_thread::yield();
      }
      if (ticket_.load(std::memory_order_acquire) == seen) {
        std::unique_lock lock(mutex_);
        ++sleeping_;
        wake_.wait(lock, [&] { return ticket_.load(std::memory_order_relaxed) != seen; });
        --sleeping_;
      }
      Loop* loop = nullptr;
      {
        const std::lock_guard lock(mutex_);
        if (stop_) return;
        seen = ticket_.load(std::memory_order_relaxed);
        loop = loop_;
        if (loop != nullptr) busy_.fetch_add(1, std::memory_order_relaxed);
      }
      if (loop != nullptr) {
        loop->start_late();
        busy_.fetch_sub(1, std::memory_order_release);
      }
    }
  }

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<int> busy_{0};
  Loop* loop_ = nullptr;
  int sleeping_ = 0;
  bool stop_ = false;
};

int initial_threads() {
  if (const char* text = std::getenv("TINYMP_THREADS")) {
    char* end = nullptr;
    const long n = std::strtol(text, &end, 10);
    if (end == text || *end != '\0' || n < 1 || n > 1024) {
      throw UsageError(
          concat("TINYMP_THREADS is '", text, "': set it to a number from 1 to 1024, or unset it"));
    }
    return static_cast<int>(n);
  }
  return static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 1024u));
}

std::atomic<int>& thread_count() {
  static std::atomic<int> count = initial_threads();
  return count;
}

std::mutex pool_mutex;  // one loop at a time; a second caller runs its loop alone
std::unique_ptr<ThreadPool> pool;

}  // namespace

int threads() { return thread_count(); }

void set_threads(int n) {
  if (n < 1 || n > 1024) throw UsageError(concat("set_threads: ", n, " is not between 1 and 1024"));
  expect(!inside_parallel_for,
         "set_threads: not inside a parallel_for, whose threads it would have to wait for");
  const std::lock_guard lock(pool_mutex);
  thread_count() = n;
  pool.reset();
}

void detail::parallel_ranges(std::int64_t n, std::int64_t grain, RangeBody body, void* context) {
  grain = std::max<std::int64_t>(grain, 1);
  if (n <= 0) return;
  std::unique_lock lock(pool_mutex, std::defer_lock);
  if (n <= grain || inside_parallel_for || threads() == 1 || !lock.try_lock()) {
    for (std::int64_t begin = 0; begin < n; begin += grain) body(context, begin, std::min(n, begin + grain));
    return;
  }
  if (!pool || pool->workers() != threads() - 1) pool = std::make_unique<ThreadPool>(threads() - 1);
  Loop loop{.n = n, .grain = grain, .body = body, .context = context, .error = {}};
  pool->run(loop);
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace tinymp
