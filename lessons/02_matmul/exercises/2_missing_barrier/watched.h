#pragma once

#include <tinymp/base/error.h>
#include <array>
#include <kernels/cuda/gemm/tiled.cuh>
#include <string>

/// Numbers that know who wrote them and who has read them: an access by another thread that no barrier
/// separates is a race, in whatever order the threads take their turns.
namespace tinymp::exercise {
namespace {

using kernels::emu::machine::Block;

int launches = 0;

/// When something was done, and by whom. Barriers count the time.
struct Moment {
  int thread = -1, launch = 0;
  unsigned block_time = 0, warp_time = 0;

  static Moment now() {
    Block& block = *Block::running();
    const auto& meetings = block.warp().meetings;
    return {static_cast<int>(block.thread().rank), launches, block.barrier().generation,
            meetings.empty() ? 0 : meetings.front().generation};
  }
  bool races_with(const Moment& later) const {
    if (thread < 0 || thread == later.thread) return false;
    if (launch != later.launch || block_time != later.block_time) return false;
    return thread / 32 != later.thread / 32 || warp_time == later.warp_time;
  }
};

/// Of op(a) or op(b).
struct Element {
  char matrix = 0;
  int row = 0, col = 0;
  int k() const { return matrix == 'a' ? col : row; }
  int value() const { return matrix == 0 ? 0 : 100 * (row + 1) + col + 1; }
  std::string name() const {
    return matrix == 0 ? "the 0 from beyond the edge" : concat(matrix, "(", row, ",", col, ")");
  }
  std::string show() const { return concat(value(), ", ", name()); }
};

struct Race {
  std::string told;
};
std::array<int, 256> reads_of_shared, reads_of_others;  // by each thread; of what others have written
int reads_of_nothing = -1;                              // a thread that has read what nobody has written

std::string thread_name(int rank) { return concat("thread (", rank % 16, ",", rank / 16, ")"); }

[[noreturn]] void race(const char* what, const std::string& where, const std::string& expected,
                       const std::string& yours) {
  throw Race{concat(what, "\n  ", where, "\n  expected = ", expected, "\n  yours    = ", yours)};
}
constexpr const char* no_first =
    "Your kernel has no barrier between fetching and multiplying: who has fetched its own elements "
    "multiplies while others still fetch theirs. (__syncwarp() waits for the 32 threads of a warp only.)";
constexpr const char* no_second =
    "Your kernel has no barrier between multiplying and the next fetch: who is done overwrites what others "
    "still have to read. (__syncwarp() waits for the 32 threads of a warp only.)";

class Watched {
 public:
  constexpr Watched() = default;
  explicit Watched(float) : own_(true) {}  // 0, and what c becomes
  Watched(const Watched& other) : element_(other.element_), own_(true) { other.read(); }
  Watched& operator=(const Watched& other) {
    other.read();
    if (!own_) write(other);
    element_ = other.element_;
    return *this;
  }
  explicit operator float() const {
    read();
    return static_cast<float>(element_.value());
  }
  /// An element in global memory, where nobody writes.
  void set(const Element& element) {
    element_ = element;
    own_ = true;
  }

 private:
  void read() const {
    if (own_) return;
    const Moment now = Moment::now();
    const int wanted_k = reads_of_shared[static_cast<std::size_t>(now.thread)]++ / 2;
    if (written_.races_with(now)) {
      const std::string who = concat(thread_name(now.thread), ", k = ", wanted_k, ": ");
      const bool too_new = element_.matrix != 0 && element_.k() > wanted_k;
      Element wanted = element_;
      (wanted.matrix == 'a' ? wanted.col : wanted.row) = wanted_k;
      if (too_new)
        race(no_second,
             concat(who, thread_name(written_.thread), " has already fetched ", element_.name(),
                    " into the place of ", wanted.name()),
             wanted.show(), element_.show());
      race(no_first,
           concat(who, "reads ", element_.name(), ", which ", thread_name(written_.thread),
                  " has written, and no __syncthreads() lies between the two"),
           concat(element_.show(), ", in any order of threads"),
           concat(element_.show(), ", in this order by luck"));
    }
    if (written_.launch == now.launch && written_.thread != now.thread)
      ++reads_of_others[static_cast<std::size_t>(now.thread)];
    if (read_.thread != now.thread) also_read_ = read_;
    read_ = now;
    read_k_ = wanted_k;
    if (written_.launch != now.launch && reads_of_nothing < 0) reads_of_nothing = now.thread;
  }

  void write(const Watched& by) {
    const Moment now = Moment::now();
    for (const Moment& reader : {read_, also_read_}) {
      if (!reader.races_with(now)) continue;
      const std::string who = concat(thread_name(reader.thread), ", k = ", read_k_, ": ");
      if (by.element_.matrix != 0 && by.element_.k() > read_k_)
        race(no_second,
             concat(who, "has read ", element_.name(), ", and ", thread_name(now.thread), " fetches ",
                    by.element_.name(), " into its place, with no __syncthreads() between the two"),
             concat(element_.show(), ", in any order of threads"),
             concat(element_.show(), ", in this order by luck"));
      race(no_first,
           concat(who, "has read the place of ", by.element_.name(), " before ", thread_name(now.thread),
                  " writes it"),
           by.element_.show(), concat(element_.value(), ", what lay there before"));
    }
    if (written_.races_with(now))
      race("Your kernel lets two threads fetch into the same place.",
           concat(thread_name(written_.thread), " and ", thread_name(now.thread)), element_.show(),
           by.element_.show());
    written_ = now;
  }

  Element element_{};
  bool own_ = false;  // a thread's own copy, or global memory: not shared
  Moment written_{};
  mutable Moment read_{}, also_read_{};  // two different readers: one of them is another than the writer
  mutable int read_k_ = 0;
};

}  // namespace
}  // namespace tinymp::exercise
