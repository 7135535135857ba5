// Exercise 2.2: a missing barrier. First the kernel multiplies numbers that know who wrote them and who has
// read them (watched.h). Then products of small whole numbers, drawn, in all formats and orders. Where these
// are right the tiles have to have been shared, too.

#include <lessons/02_matmul/exercises/2_missing_barrier/problem.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/base/error.h>
#include <array>
#include <cstdint>
#include <vector>

namespace tinymp::exercise {
namespace {

using kernels::Format;
using kernels::Sums;
using kernels::Trans;
using kernels::emu::machine::ThreadOrder;

std::string thread_name(int rank) { return concat("thread (", rank % 16, ",", rank / 16, ")"); }

struct Shape {
  int M, N, K;
  Trans ta, tb;
};

constexpr int rows_behind = 17;  // a tile that hangs over

/// Of op(x) as it lies in memory; between rows, and behind the last, lie numbers that are none of its own.
struct Matrix {
  Matrix(int rows, int cols, Trans t)
      : ld((t == Trans::no ? cols : rows) + 3),
        trans(t),
        values(static_cast<std::size_t>(((t == Trans::no ? rows : cols) + rows_behind) * ld), untouched) {}
  /// Of numbers from -3 to 3: sums of some fifty products are exact in every format.
  static Matrix drawn(Judge& judge, int rows, int cols, Trans t) {
    Matrix x(rows, cols, t);
    for (int row = 0; row < rows; ++row)
      for (int col = 0; col < cols; ++col)
        x.values[x.at(row, col)] = static_cast<std::int8_t>(judge.draw_below(7) - 3);
    return x;
  }
  std::size_t at(int row, int col) const {
    return static_cast<std::size_t>(trans == Trans::no ? row * ld + col : col * ld + row);
  }
  int operator()(int row, int col) const { return values[at(row, col)]; }
  int ld;
  Trans trans;
  std::vector<std::int8_t> values;
};

Problem problem(Judge& judge, const Shape& of, const Matrix& a, const Matrix& b, const Matrix& c,
                ThreadOrder order) {
  return {
      .gemm =
          {.M = of.M, .N = of.N, .K = of.K, .lda = a.ld, .ldb = b.ld, .ldc = c.ld, .ta = of.ta, .tb = of.tb},
      .order = order,
      .seed = judge.draw(),
      .size_of_c = c.values.size()};
}

std::string where(const Shape& of) { return concat("(", of.M, ",", of.K, ") . (", of.K, ",", of.N, ")"); }

/// What the answer begins with; gives a thread that has read what nobody wrote.
int launched(Judge& judge, Message& reply) {
  const auto went = reply.take<std::int64_t>();
  std::string told = reply.text();
  if (went == static_cast<std::int64_t>(Went::into_a_race)) judge.fail(told);
  if (went == static_cast<std::int64_t>(Went::into_an_error)) {
    // "kernel tiled<Watched, ...>, block (0,0,0), ..."
    if (const auto open = told.find('<'), close = told.find('>'); close != told.npos && open < close)
      told.erase(open, close + 1 - open);
    judge.fail(
        concat("Your kernel has a barrier to which not every thread of the block comes. One in a branch that "
               "only some take, or after a return, waits for ever on a GPU.\n  expected = 256 threads in the "
               "same __syncthreads()\n  yours    = ",
               told));
  }
  if (went != static_cast<std::int64_t>(Went::well)) throw Malformed("a launch went in no known way");
  return reply.take<int>();
}

/// How often each thread has read in shared memory what another one has written.
struct Sharing {
  Shape of;
  std::vector<int> reads;
};

Sharing watch(Judge& judge, const Shape& of, ThreadOrder order) {
  const Matrix a(of.M, of.K, of.ta), b(of.K, of.N, of.tb), c(of.M, of.N, Trans::no);
  Problem asked = problem(judge, of, a, b, c, order);
  asked.watched = 1;
  Message reply = judge.ask(Message().put(asked), [&] { return "  " + where(of); });
  const int reads_of_nothing = launched(judge, reply);
  judge.expect(reads_of_nothing < 0, [&] {
    return concat(
        "Your kernel reads shared memory where nobody has written: a tile has 16 rows and 16 columns.\n  ",
        thread_name(reads_of_nothing), "\n  expected = 16 products for each tile\n  yours    = more");
  });
  return {of, reply.take_all<int>(256)};
}

/// Of the two times 16 numbers that a thread multiplies in a tile it has fetched one of each matrix itself.
void expect_sharing(Judge& judge, const Sharing& sharing) {
  const Shape& of = sharing.of;
  const int right = 2 * (of.K - (of.K + 15) / 16);
  int least = 0;  // the thread that has read the fewest, among those with an element of c
  for (int i = 0; i < of.M; ++i)
    for (int j = 0; j < of.N; ++j)
      if (sharing.reads[static_cast<std::size_t>(16 * i + j)] <
          sharing.reads[static_cast<std::size_t>(least)])
        least = 16 * i + j;
  const int yours = sharing.reads[static_cast<std::size_t>(least)];
  judge.expect(yours >= right, [&] {
    return concat(
        yours == 0 ? "Your kernel shares nothing: no thread reads what another one has fetched, and global "
                     "memory is read 16 times as often as it need be. "
                   : "Your kernel shares too little: a part of the numbers each thread gets for itself. ",
        "Keep the tiles in shared memory: the threads fetch them together, wait, and multiply from there.",
        "\n  ", where(of), ", ", thread_name(least), "\n  expected = it reads ", right,
        " numbers that others have fetched\n  yours    = ", yours);
  });
}

void multiply(Judge& judge, const Shape& of, Format format, Sums sums, ThreadOrder order) {
  const Matrix a = Matrix::drawn(judge, of.M, of.K, of.ta), b = Matrix::drawn(judge, of.K, of.N, of.tb);
  const Matrix c(of.M, of.N, Trans::no);
  Problem asked = problem(judge, of, a, b, c, order);
  asked.gemm.format = format;
  asked.gemm.sums = sums;
  Message reply = judge.ask(Message().put(asked).put_all(a.values).put_all(b.values), [&] {
    return concat("  ", where(of), ", ", name_of(format), " with sums in ", name_of(sums));
  });
  launched(judge, reply);
  const auto found = reply.all<float>(c.values.size());
  for (int m = 0; m < of.M + rows_behind; ++m) {
    for (int n = 0; n < c.ld; ++n) {
      const bool inside = m < of.M && n < of.N;
      int right = inside ? 0 : untouched;
      for (int k = 0; inside && k < of.K; ++k) right += a(m, k) * b(k, n);
      const float yours = found[c.at(m, n)];
      judge.expect(yours == static_cast<float>(right), [&] {
        return concat(
            "Your kernel has no race, but gives another product. Only a barrier was missing; the rest was "
            "right.\n  ",
            where(of), ", ", name_of(format), " with sums in ", name_of(sums), ", c(", m, ",", n,
            ")\n  expected = ", right, "\n  yours    = ", decimal(yours));
      });
    }
  }
}

constexpr std::array orders{ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffled};

}  // namespace

void check(Judge& judge) {
  std::vector<Sharing> watched;
  for (const ThreadOrder order : orders)
    for (const Shape& of : {Shape{16, 16, 16, Trans::no, Trans::no}, Shape{16, 16, 48, Trans::no, Trans::no},
                            Shape{16, 16, 48, Trans::yes, Trans::yes},
                            Shape{13, 11, 40, Trans::no, Trans::yes}, Shape{1, 1, 64, Trans::yes, Trans::no}})
      watched.push_back(watch(judge, of, order));
  for (const ThreadOrder order : orders)
    for (const Trans ta : {Trans::no, Trans::yes})
      for (const Trans tb : {Trans::no, Trans::yes})
        for (const Shape& of : {Shape{1, 1, 1, ta, tb}, Shape{16, 32, 16, ta, tb}, Shape{35, 18, 50, ta, tb},
                                Shape{5, 40, 0, ta, tb}}) {
          multiply(judge, of, Format::f32, Sums::f32, order);
          multiply(judge, of, Format::f16, Sums::f32, order);
          multiply(judge, of, Format::f16, Sums::f16, order);
          multiply(judge, of, Format::bf16, Sums::f32, order);
        }
  for (const Sharing& sharing : watched) expect_sharing(judge, sharing);
}

}  // namespace tinymp::exercise
