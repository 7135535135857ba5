#include <tinymp/base/parallel_for.h>

#ifdef __linux__
#include <sched.h>
#endif

#include <tests/base/child.h>
#include <tests/base/sanitized.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tinymp::test {
namespace {

/// Threads as they were, when the test is over.
struct KeepThreads {
  int usual = threads();
  ~KeepThreads() { set_threads(usual); }
};

/// How often each index was visited; each range must lie inside, not be empty, and start at a multiple of the
/// grain.
struct Visits {
  explicit Visits(std::int64_t n) : n_(n), counts_(static_cast<std::size_t>(n)) {}

  void cover(std::int64_t grain) {
    parallel_for(n_, grain, [&](std::int64_t begin, std::int64_t end) {
      if (begin < 0 || begin >= end || end > n_ || begin % grain != 0) ranges_ok_ = false;
      if (end - begin != grain && end != n_) ranges_ok_ = false;
      for (std::int64_t i = begin; i < end; ++i) counts_[static_cast<std::size_t>(i)].fetch_add(1);
    });
  }
  bool each_once() const {
    for (const auto& count : counts_) {
      if (count != 1) return false;
    }
    return ranges_ok_;
  }

 private:
  std::int64_t n_;
  std::vector<std::atomic<int>> counts_;
  std::atomic<bool> ranges_ok_{true};
};

TEST_CASE("parallel_for visits every index once, whatever the threads and the grain") {
  const KeepThreads keep;
  for (const int count : {1, 2, 3, 7}) {
    set_threads(count);
    CHECK(threads() == count);
    for (const std::int64_t n : {0, 1, 2, 7, 64, 1000}) {
      for (const std::int64_t grain : {1, 3, 64, 5000}) {
        Visits visits(n);
        visits.cover(grain);
        INFO(count << " threads, n = " << n << ", grain " << grain);
        CHECK(visits.each_once());
      }
    }
  }
}

TEST_CASE("a grain below 1 counts as 1, a negative n as nothing") {
  const KeepThreads keep;
  for (const int count : {1, 3}) {
    set_threads(count);
    std::atomic<int> visited{0};
    const auto visit = [&](std::int64_t begin, std::int64_t end) {
      visited += static_cast<int>(end - begin);
    };
    parallel_for(10, 0, visit);
    CHECK(visited == 10);
    parallel_for(10, -5, visit);
    CHECK(visited == 20);
    parallel_for(-1, 1, visit);
    parallel_for(0, 1, visit);
    CHECK(visited == 20);
  }
}

TEST_CASE("many short loops one after another lose and repeat nothing") {
  const KeepThreads keep;
  for (const int count : {2, 3, 7}) {
    set_threads(count);
    std::vector<int> values(50, 0);
    int wrong = 0;
    for (int loop = 1; loop <= 300; ++loop) {
      parallel_for(50, 1 + loop % 7, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) ++values[static_cast<std::size_t>(i)];
      });
      for (const int v : values) wrong += v != loop;  // not atomic: what the loop wrote is seen here
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("the pool may change its size between loops") {
  const KeepThreads keep;
  for (int round = 0; round < 30; ++round) {
    set_threads(1 + round % 4);
    Visits visits(40);
    visits.cover(3);
    REQUIRE(visits.each_once());
  }
}

/// True as soon as `condition` holds; false when it does not for 20 seconds.
template <class Condition>
bool wait_until(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::yield();
  }
  return true;
}

TEST_CASE("the work is really shared out") {
  const KeepThreads keep;
  set_threads(2);
  std::atomic<int> inside{0}, met{0};
  parallel_for(2, 1, [&](std::int64_t, std::int64_t) {
    ++inside;
    met += wait_until([&] { return inside == 2; });  // one thread alone would wait in vain
  });
  CHECK(met == 2);
}

TEST_CASE("parallel_for comes back when every piece is done, not when none is left to take") {
  const KeepThreads keep;
  set_threads(2);
  const std::thread::id caller = std::this_thread::get_id();
  for (int round = 0; round < 5; ++round) {
    std::atomic<bool> other_has_one{false};
    std::atomic<int> done{0};
    parallel_for(2, 1, [&](std::int64_t, std::int64_t) {
      if (std::this_thread::get_id() == caller) {
        wait_until([&] { return other_has_one.load(); });
      } else {
        other_has_one = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      }
      ++done;
    });
    CHECK(done == 2);
  }
}

TEST_CASE("a second thread that calls parallel_for does not wait for the first") {
  const KeepThreads keep;
  set_threads(2);
  std::atomic<bool> second_done{false};
  std::atomic<int> waited_in_vain{0};
  std::thread second;
  parallel_for(2, 1, [&](std::int64_t begin, std::int64_t) {
    if (begin == 0) {
      second = std::thread([&] {
        Visits visits(50);
        visits.cover(3);
        second_done = visits.each_once();
      });
    }
    waited_in_vain += !wait_until([&] { return second_done.load(); });
  });
  second.join();
  CHECK(waited_in_vain == 0);
}

TEST_CASE("a parallel_for inside another runs in the thread that came to it") {
  const KeepThreads keep;
  for (const int count : {1, 2, 3, 7}) {
    set_threads(count);
    std::vector<std::atomic<int>> counts(600);
    std::atomic<int> strays{0};
    parallel_for(20, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t outer = begin; outer < end; ++outer) {
        const std::thread::id here = std::this_thread::get_id();
        parallel_for(30, 4, [&](std::int64_t first, std::int64_t last) {
          if (count > 1 && std::this_thread::get_id() != here) ++strays;
          for (std::int64_t i = first; i < last; ++i) ++counts[static_cast<std::size_t>(outer * 30 + i)];
        });
      }
    });
    CHECK(strays == 0);
    int wrong = 0;
    for (const auto& c : counts) wrong += c != 1;
    CHECK(wrong == 0);
  }
}

TEST_CASE("an exception in a body comes out of parallel_for, and the pool goes on working") {
  const KeepThreads keep;
  for (const int count : {1, 2, 3, 7}) {
    set_threads(count);
    for (int round = 0; round < 20; ++round) {
      const std::int64_t bad = round * 5;
      std::string message;
      try {
        parallel_for(100, 1, [&](std::int64_t begin, std::int64_t) {
          if (begin == bad) throw std::runtime_error("index " + std::to_string(begin));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      REQUIRE(message == "index " + std::to_string(bad));
      Visits visits(100);
      visits.cover(7);
      REQUIRE(visits.each_once());
    }
  }
}

TEST_CASE("when every piece throws, one exception comes out") {
  const KeepThreads keep;
  set_threads(3);
  for (int round = 0; round < 20; ++round) {
    CHECK_THROWS_AS(parallel_for(50, 1, [](std::int64_t, std::int64_t) { throw Error("each"); }), Error);
  }
  // From an inner loop it passes through both.
  CHECK_THROWS_AS(parallel_for(10, 1,
                               [](std::int64_t, std::int64_t) {
                                 parallel_for(10, 1,
                                              [](std::int64_t, std::int64_t) { throw Error("inner"); });
                               }),
                  Error);
}

TEST_CASE("after an exception no new piece is begun") {
  const KeepThreads keep;
  for (const int count : {1, 3}) {
    set_threads(count);
    std::atomic<int> begun{0};
    CHECK_THROWS_AS(parallel_for(100000, 1,
                                 [&](std::int64_t, std::int64_t) {
                                   ++begun;
                                   throw Error("stop");
                                 }),
                    Error);
    CHECK(begun <= count);
  }
}

TEST_CASE("two threads may call parallel_for at once") {
  const KeepThreads keep;
  for (const int count : {1, 2, 7}) {
    set_threads(count);
    std::atomic<int> wrong{0};
    const auto caller = [&] {
      for (int round = 0; round < 100; ++round) {
        Visits visits(60);
        visits.cover(4);
        wrong += !visits.each_once();
      }
    };
    std::thread first(caller), second(caller);
    first.join();
    second.join();
    CHECK(wrong == 0);
  }
}

TEST_CASE("set_threads takes 1 to 1024 and changes nothing when it refuses") {
  const KeepThreads keep;
  set_threads(3);
  for (const int bad : {0, -1, 1025, -2147483647}) {
    CHECK_THROWS_AS(set_threads(bad), UsageError);
    CHECK_SAYS(std::to_string(bad) + " is not between 1 and 1024", set_threads(bad));
  }
  CHECK(threads() == 3);
  set_threads(1024);  // a number, no threads yet: they start with the first loop
  CHECK(threads() == 1024);
}

TEST_CASE("set_threads inside a parallel_for is refused: it would wait for itself") {
  const KeepThreads keep;
  set_threads(2);
  CHECK_SAYS("set_threads: not inside a parallel_for",
             parallel_for(10, 1, [](std::int64_t, std::int64_t) { set_threads(3); }));
  CHECK(threads() == 2);
}

TEST_CASE("a loop over as many threads as TINYMP_THREADS asks for") {
  std::atomic<int> visited{0};
  try {
    parallel_for(1000, 1,
                 [&](std::int64_t begin, std::int64_t end) { visited += static_cast<int>(end - begin); });
    CHECK(visited == 1000);
    std::printf("visited: %d\n", visited.load());
  } catch (const Error& error) {
    std::printf("refused: %s\n", error.what());
  }
}

TEST_CASE("more threads than the system gives are an error with a way out, not the end of the program") {
  if (!std::filesystem::exists("/bin/sh")) SKIP_TEST("no shell to set a limit with");
  if (sanitized) SKIP_TEST("a sanitizer needs more memory than the limit of this test");
  // Each thread's stack takes 8 MB of addresses or so: 400 MB are no 1024 threads.
  const std::string limit = "TINYMP_THREADS=1024 sh -c 'ulimit -v 400000; exec \"$0\" \"$@\"'";
  const std::string test = "a loop over as many threads as TINYMP_THREADS asks for";
  const std::optional<ChildResult> result = run_again(limit, test);
  if (!result) SKIP_TEST("this system does not say where the running program lies");
  if (result->line("visited: ") == "1000") SKIP_TEST("this system gives 1024 threads in 400 MB");
  CHECK(result->line("refused: ").find("the system gives this program no more than ") == 0);
  CHECK(result->line("refused: ").find("TINYMP_THREADS=") != std::string::npos);
  CHECK(result->status == 0);
  CHECK(run_again("TINYMP_THREADS=3", test)->line("visited: ") == "1000");
}

#ifdef __linux__
TEST_CASE("threads stay free to run on every processor that the program may use") {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
    SKIP_TEST("this processor has no second core, or the system does not tell");
  const KeepThreads keep;
  set_threads(std::min(3, CPU_COUNT(&allowed)));
  for (int i = 0; i < 20; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the workers sleep by now
    std::atomic<int> bound{0};
    parallel_for(64, 1, [&](std::int64_t, std::int64_t) {
      cpu_set_t mine;
      if (sched_getaffinity(0, sizeof mine, &mine) != 0 || !CPU_EQUAL(&mine, &allowed)) ++bound;
      const auto began = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - began < std::chrono::microseconds(100)) {
      }
    });
    CHECK(bound == 0);
  }
}
#endif

TEST_CASE("threads() says how many there are, or what is wrong with TINYMP_THREADS") {
  try {
    std::printf("threads: %d\n", threads());
    CHECK(threads() >= 1);
  } catch (const UsageError& error) {
    std::printf("refused: %s\n", error.what());
    CHECK_THROWS_AS(threads(), UsageError);  // and again, not only at first
    CHECK_THROWS_AS(parallel_for(100, 1, [](std::int64_t, std::int64_t) {}), UsageError);
  }
}

TEST_CASE("TINYMP_THREADS sets the number of threads - what is no number is refused") {
  const std::string test = "threads() says how many there are, or what is wrong with TINYMP_THREADS";
  const auto with = [&](const std::string& setting) { return run_again("TINYMP_THREADS=" + setting, test); };
  if (!with("1")) SKIP_TEST("this system does not say where the running program lies");
  for (const std::string good : {"1", "2", "7", "1024"}) {
    CHECK(with(good)->line("threads: ") == good);
    CHECK(with(good)->status == 0);
  }
  for (const std::string bad : {"0", "-3", "1025", "two", "3x", "''", "99999999999999999999"}) {
    INFO("TINYMP_THREADS=" << bad);
    const ChildResult result = *with(bad);
    const std::string shown = bad == "''" ? "" : bad;
    CHECK(result.line("refused: ") ==
          "TINYMP_THREADS is '" + shown + "': set it to a number from 1 to 1024, or unset it");
    CHECK(result.status == 0);
  }
}

}  // namespace
}  // namespace tinymp::test
