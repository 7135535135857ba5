// Exercise 2.2: a missing barrier. First the kernel multiplies numbers that know who wrote them and who has
// read them: an access by another thread that no barrier separates is a race, in whatever order the threads
// take their turns. Then products of small whole numbers, in all formats and orders.

#include <kernels/emu/options.h>
#include <lessons/classroom/judge.h>
#include <tinymp/base/error.h>
#include <array>
#include <cstdint>
#include <kernels/cuda/gemm/tiled.cuh>
#include <vector>

namespace tinymp::exercise {
namespace {

using kernels::Format;
using kernels::GemmProblem;
using kernels::Sums;
using kernels::Trans;
using kernels::emu::machine::Block;
using kernels::emu::machine::ThreadOrder;

// ---- Numbers that watch who uses them.

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

Judge* judge_of_races = nullptr;
std::array<int, 256> reads_of_shared;  // by each thread
int reads_of_nothing = -1;             // a thread that has read what nobody has written

std::string thread_name(int rank) { return concat("thread (", rank % 16, ",", rank / 16, ")"); }

[[noreturn]] void race(const char* what, const std::string& where, const std::string& expected,
                       const std::string& yours) {
  judge_of_races->fail(concat(what, "\n  ", where, "\n  expected = ", expected, "\n  yours    = ", yours));
}
constexpr const char* no_first =
    "There is no barrier between fetching and multiplying: who has fetched its own elements multiplies "
    "while others still fetch theirs. (__syncwarp() waits for the 32 threads of a warp only.)";
constexpr const char* no_second =
    "There is no barrier between multiplying and the next fetch: who is done overwrites what others still "
    "have to read. (__syncwarp() waits for the 32 threads of a warp only.)";

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
      race("Two threads fetch into the same place.",
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

struct Shape {
  int M, N, K;
  Trans ta, tb;
};

/// A matrix as it lies in memory, rows `ld` apart; at(row, col) is an element of op(x).
template <class T>
struct Matrix {
  Matrix(int rows, int cols, Trans t)
      : ld((t == Trans::no ? cols : rows) + 3),
        trans(t),
        values(static_cast<std::size_t>(((t == Trans::no ? rows : cols) + rows_behind) * ld)) {}
  T& at(int row, int col) {
    return values[static_cast<std::size_t>(trans == Trans::no ? row * ld + col : col * ld + row)];
  }
  static constexpr int rows_behind = 17;  // a tile that hangs over
  kernels::emu::Operand<T> operand() const { return kernels::emu::operand<T>(values.data(), ld, trans); }
  int ld;
  Trans trans;
  std::vector<T> values;
};

/// What a kernel that hangs throws becomes a verdict.
template <class Launch>
void launched(Judge& judge, const Launch& launch) {
  try {
    launch();
  } catch (const Error& error) {
    std::string what = error.what();  // "kernel tiled<Watched, ...>, block (0,0,0), ..."
    if (const auto open = what.find('<'), close = what.find('>'); close != what.npos)
      what.erase(open, close + 1 - open);
    judge.fail(
        concat("Not every thread of the block comes to the barrier. One in a branch that only some take, or "
               "after a return, waits for ever on a GPU.\n  expected = 256 threads in the same "
               "__syncthreads()\n  yours    = ",
               what));
  }
}

/// One block, since only threads of one block share memory.
void watch(Judge& judge, const Shape& of, ThreadOrder order) {
  kernels::emu::machine::set_options({.order = order});
  Matrix<Watched> a(of.M, of.K, of.ta), b(of.K, of.N, of.tb), c(of.M, of.N, Trans::no);
  for (int m = 0; m < of.M; ++m)
    for (int k = 0; k < of.K; ++k) a.at(m, k).set({'a', m, k});
  for (int k = 0; k < of.K; ++k)
    for (int n = 0; n < of.N; ++n) b.at(k, n).set({'b', k, n});
  for (Watched& value : c.values) value.set({});
  reads_of_shared = {};
  reads_of_nothing = -1;
  ++launches;
  judge_of_races = &judge;
  launched(judge, [&] {
    kernels::emu::launch<kernels::emu::tiled<Watched, float>>(1, kernels::emu::dim3(16, 16), 0, nullptr,
                                                              a.operand(), b.operand(), c.values.data(), c.ld,
                                                              of.M, of.N, of.K);
  });
  judge.expect(reads_of_nothing < 0, [] {
    return concat("Shared memory is read where nobody has written: a tile has 16 rows and 16 columns.\n  ",
                  thread_name(reads_of_nothing),
                  "\n  expected = 16 products for each tile\n  yours    = more");
  });
}

// ---- The product itself.

/// -3 to 3: sums of a hundred products are exact in every format.
int whole(int row, int col) { return (row * 31 + col * 17 + row * col) % 7 - 3; }

template <class T>
void multiply(Judge& judge, const Shape& of, Format format, Sums sums) {
  Matrix<T> a(of.M, of.K, of.ta), b(of.K, of.N, of.tb), c(of.M, of.N, Trans::no);
  constexpr float untouched = 77;
  std::fill(a.values.begin(), a.values.end(), T(untouched));
  std::fill(b.values.begin(), b.values.end(), T(untouched));
  std::fill(c.values.begin(), c.values.end(), T(untouched));
  for (int m = 0; m < of.M; ++m)
    for (int k = 0; k < of.K; ++k) a.at(m, k) = T(static_cast<float>(whole(m, k)));
  for (int k = 0; k < of.K; ++k)
    for (int n = 0; n < of.N; ++n) b.at(k, n) = T(static_cast<float>(whole(n + 5, k)));
  launched(judge, [&] {
    kernels::emu::gemm_tiled({.M = of.M,
                              .N = of.N,
                              .K = of.K,
                              .a = a.values.data(),
                              .b = b.values.data(),
                              .c = c.values.data(),
                              .lda = a.ld,
                              .ldb = b.ld,
                              .ldc = c.ld,
                              .ta = of.ta,
                              .tb = of.tb,
                              .format = format,
                              .sums = sums},
                             nullptr);
  });
  for (int m = 0; m < of.M + c.rows_behind; ++m) {
    for (int n = 0; n < c.ld; ++n) {
      const bool inside = m < of.M && n < of.N;
      int right = inside ? 0 : static_cast<int>(untouched);
      for (int k = 0; inside && k < of.K; ++k) right += whole(m, k) * whole(n + 5, k);
      const auto yours = static_cast<float>(c.at(m, n));
      judge.expect(yours == static_cast<float>(right), [&] {
        return concat("No race, but another product. Only a barrier was missing; the rest was right.\n  (",
                      of.M, ",", of.K, ") . (", of.K, ",", of.N, "), ", name_of(format), " with sums in ",
                      name_of(sums), ", c(", m, ",", n, ")\n  expected = ", right,
                      "\n  yours    = ", decimal(yours));
      });
    }
  }
}

constexpr std::array orders{ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffled};

}  // namespace

void check(Judge& judge) {
  for (const ThreadOrder order : orders)
    for (const Shape& of : {Shape{16, 16, 16, Trans::no, Trans::no}, Shape{16, 16, 48, Trans::no, Trans::no},
                            Shape{16, 16, 48, Trans::yes, Trans::yes},
                            Shape{13, 11, 40, Trans::no, Trans::yes}, Shape{1, 1, 64, Trans::yes, Trans::no}})
      watch(judge, of, order);
  for (const ThreadOrder order : orders) {
    kernels::emu::machine::set_options({.order = order});
    for (const Trans ta : {Trans::no, Trans::yes})
      for (const Trans tb : {Trans::no, Trans::yes})
        for (const Shape& of : {Shape{1, 1, 1, ta, tb}, Shape{16, 32, 16, ta, tb}, Shape{35, 18, 50, ta, tb},
                                Shape{5, 40, 0, ta, tb}}) {
          multiply<float>(judge, of, Format::f32, Sums::f32);
          multiply<half>(judge, of, Format::f16, Sums::f32);
          multiply<half>(judge, of, Format::f16, Sums::f16);
          multiply<bfloat16>(judge, of, Format::bf16, Sums::f32);
        }
  }
}

}  // namespace tinymp::exercise
