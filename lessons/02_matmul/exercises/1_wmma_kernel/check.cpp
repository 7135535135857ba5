// Exercise 2.1: the WMMA kernel, on matrices of small whole numbers: the product in integers is the oracle.

#include <lessons/02_matmul/exercises/1_wmma_kernel/problem.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tinymp::exercise {
namespace {

using kernels::Format;
using kernels::Sums;
using kernels::Trans;
using kernels::emu::machine::ThreadOrder;

constexpr int anything = 78;  // what is no whole number

/// A matrix in memory. Behind each row lie `gap` numbers that are none of its own.
struct Matrix {
  int rows, cols, gap;
  Trans trans;
  std::uint32_t salt;

  int ld() const { return (trans == Trans::no ? cols : rows) + gap; }
  int size() const { return (trans == Trans::no ? rows : cols) * ld(); }
  int at(int row, int col) const { return trans == Trans::no ? row * ld() + col : col * ld() + row; }
  /// -2 to 2, at an address: so a wrong address is another number.
  int number(std::int64_t address) const {
    const std::uint32_t bits = (static_cast<std::uint32_t>(address) + salt) * 0x9e37'79b9u;
    return static_cast<int>((bits ^ bits >> 15) * 0x2c1b'3c6du >> 16) % 5 - 2;
  }
};

struct Case {
  int M, N, K, gap;
  Trans ta = Trans::no, tb = Trans::no;
  Format format = Format::f16;
  Sums sums = Sums::f32;
  std::uint32_t salt_of_a = 0, salt_of_b = 0;

  Matrix a() const { return {M, K, gap, ta, salt_of_a}; }
  Matrix b() const { return {K, N, gap, tb, salt_of_b}; }
  int ldc() const { return N + gap; }
};

// ---- The product, and the products that people compute instead.

/// How the tiles of a matrix are fetched.
struct Fetch {
  bool as_rows = false;    // as if its layout were row_major
  bool turned = false;     // the other layout
  bool elsewhere = false;  // row and column of the tile exchanged
  int ld = 0;              // another distance within the tile

  int operator()(const Matrix& x, int row, int col) const {
    int tile_row = row / 16 * 16, tile_col = col / 16 * 16;
    if (elsewhere) std::swap(tile_row, tile_col);
    const bool rows = as_rows || (x.trans == Trans::no) != turned;
    const int step = ld == 0 ? x.ld() : ld;
    const std::int64_t begin =
        x.trans == Trans::no ? tile_row * x.ld() + tile_col : tile_col * x.ld() + tile_row;
    return x.number(begin + (rows ? row % 16 * step + col % 16 : col % 16 * step + row % 16));
  }
};

struct Way {
  Fetch a{}, b{};
  int first_k = 0, step_k = 16, end_k = -1;
};

std::vector<int> product(const Case& of, const Way& way) {
  std::vector<int> c(static_cast<std::size_t>(of.M * of.N));
  const Matrix a = of.a(), b = of.b();
  for (int m = 0; m < of.M; ++m)
    for (int n = 0; n < of.N; ++n)
      for (int first = way.first_k; first < (way.end_k < 0 ? of.K : way.end_k); first += way.step_k)
        for (int k = first; k < first + 16; ++k)
          c[static_cast<std::size_t>(m * of.N + n)] += way.a(a, m, k) * way.b(b, k, n);
  return c;
}

/// Each tile of 16x16 on its side.
std::vector<int> turned(const Case& of, std::vector<int> c) {
  std::vector<int> on_its_side = c;
  for (int m = 0; m < of.M; ++m)
    for (int n = 0; n < of.N; ++n)
      on_its_side[static_cast<std::size_t>((m / 16 * 16 + n % 16) * of.N + n / 16 * 16 + m % 16)] =
          c[static_cast<std::size_t>(m * of.N + n)];
  return on_its_side;
}

// ---- Yours.

std::vector<std::int8_t> memory(const Matrix& x, int size) {
  std::vector<std::int8_t> numbers;
  for (int i = 0; i < size; ++i) numbers.push_back(static_cast<std::int8_t>(x.number(i)));
  return numbers;
}

std::string where(const Case& of) {
  const auto name = [](Trans t) { return t == Trans::no ? "row by row" : "column by column"; };
  return concat("\n  (", of.M, ",", of.K, ") . (", of.K, ",", of.N, "), a ", name(of.ta),
                ", lda = ", of.a().ld(), ", b ", name(of.tb), ", ldb = ", of.b().ld(), ", ",
                name_of(of.format), " with sums in ", name_of(of.sums));
}

struct Ran {
  std::uint64_t products = 0;  // of two tiles each, by tensor cores
  std::vector<int> c{};        // with its gaps, rows `ldc` apart
};

Ran run(Judge& judge, const Case& of, ThreadOrder order) {
  constexpr int more = 4096;  // behind the matrices, for tiles that are taken from a wrong place
  const Matrix a = of.a(), b = of.b();
  const auto size_of_c = static_cast<std::size_t>(of.M * of.ldc() + more);
  Message request;
  request.put(Problem{.gemm = {.M = of.M,
                               .N = of.N,
                               .K = of.K,
                               .lda = a.ld(),
                               .ldb = b.ld(),
                               .ldc = of.ldc(),
                               .ta = of.ta,
                               .tb = of.tb,
                               .format = of.format,
                               .sums = of.sums},
                      .order = order,
                      .size_of_c = size_of_c});
  request.put_all(memory(a, a.size() + more)).put_all(memory(b, b.size() + more));
  Ran ran;
  try {
    Message reply = judge.ask(request, [&] { return where(of); });
    ran.products = reply.take<std::uint64_t>();
    for (const float value : reply.all<float>(size_of_c)) {
      ran.c.push_back(value >= -9999 && value <= 9999 ? static_cast<int>(value) : anything);
      if (static_cast<float>(ran.c.back()) != value) ran.c.back() = anything;
    }
  } catch (const Threw& threw) {
    judge.fail(
        concat("Your kernel does what a GPU would not.\n  expected = all 32 lanes of the warp make each "
               "call, with addresses of tiles\n  yours    = ",
               threw.what()));
  }
  return ran;
}

std::string why(Judge& judge, const Case& of, const std::vector<int>& yours,
                const std::vector<int>& in_memory) {
  for (const ThreadOrder order : {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffled})
    if (run(judge, of, order).c != in_memory)
      return "Your kernel lets the product depend on the order of the threads: lanes read `tile` where "
             "others have not written yet. They have to wait for each other after store_matrix_sync.";
  const auto all = [&](int value) {
    return std::all_of(yours.begin(), yours.end(), [&](int x) { return x == value; });
  };
  if (all(untouched)) return "Your kernel writes nothing to c.";
  if (std::count(yours.begin(), yours.end(), untouched) > 8)
    return "Your kernel never writes some of the 256 elements of a tile: 32 lanes have to share all of them.";
  if (std::count(yours.begin(), yours.end(), anything) > 8)
    return "Your kernel never clears the sums: a fragment holds anything at first (in the emulation NaN).";
  if (all(0)) return "Your kernel leaves c at 0: what mma_sync has added up is not what is stored.";
  struct Misconception {
    const char* says;
    Way way;
  };
  const char* const layout =
      "Your kernel loads a tile in the other layout: the type of a fragment says whether its matrix lies row "
      "by row or column by column, and that is LayoutA and LayoutB.";
  const char* const place =
      "Your kernel loads a tile from the wrong place: of a it begins in row m and column k, of b in row k "
      "and column n.";
  const char* const distance =
      "Your kernel takes the rows of a tile from another distance than `ld`, that of the whole matrix: lda "
      "for a, ldb for b.";
  const Matrix a = of.a(), b = of.b();
  std::vector<Misconception> misconceptions{
      {"Your kernel counts only the last 16 of k: it clears the sums in each round, or does not hand them "
       "on.",
       {.first_k = of.K - 16}},
      {"Your kernel counts only the first 16 of k: the loop has to go on to K.", {.end_k = 16}},
      {"Your kernel leaves out every second tile along k: a tile has 16 of k.", {.step_k = 32}},
      {layout, {.a = {.as_rows = true}}},
      {layout, {.b = {.as_rows = true}}},
      {layout, {.a = {.as_rows = true}, .b = {.as_rows = true}}},
      {layout, {.a = {.turned = true}}},
      {layout, {.b = {.turned = true}}},
      {layout, {.a = {.turned = true}, .b = {.turned = true}}},
      {place, {.a = {.elsewhere = true}}},
      {place, {.b = {.elsewhere = true}}},
      {place, {.a = {.elsewhere = true}, .b = {.elsewhere = true}}},
  };
  for (const int ld_a : {0, 16, of.M, of.N, of.K, b.ld(), of.ldc()})
    for (const int ld_b : {0, 16, of.M, of.N, of.K, a.ld(), of.ldc()})
      if (ld_a + ld_b > 0) misconceptions.push_back({distance, {.a = {.ld = ld_a}, .b = {.ld = ld_b}}});
  for (const Misconception& one : misconceptions)
    if (product(of, one.way) == yours) return one.says;
  if (turned(of, product(of, {})) == yours)
    return "Your kernel lays the tiles of c on their side: element i of a tile that lies row by row is in "
           "row i / 16, column i % 16.";
  return "Your kernel gives another product.";
}

void expect_tensor_cores(Judge& judge, const Case& of, std::uint64_t yours) {
  const auto right = static_cast<std::uint64_t>(of.M / 16 * (of.N / 16) * (of.K / 16));
  judge.expect(yours >= right, [&] {
    return concat(yours == 0 ? "Your kernel never calls mma_sync: its product is right, but made number by "
                               "number, and the tensor cores stand idle. "
                             : "Your kernel calls mma_sync too seldom: a part of its product is made in "
                               "another way. ",
                  "For each 16 of k load a tile of a and one of b into fragments, and let mma_sync multiply "
                  "them.",
                  where(of), "\n  expected = mma_sync ", right,
                  " times: for each tile of c and each 16 of k\n  yours    = ", yours, " times");
  });
}

void expect_product(Judge& judge, const Case& of, ThreadOrder order) {
  const Ran ran = run(judge, of, order);
  const std::vector<int>&in_memory = ran.c, right = product(of, {});
  std::vector<int> yours;
  for (int m = 0; m < of.M; ++m)
    yours.insert(yours.end(), in_memory.begin() + m * of.ldc(), in_memory.begin() + m * of.ldc() + of.N);
  const auto text = [](int x) { return x == anything ? std::string("NaN, or no whole number") : concat(x); };
  for (int m = 0; m < of.M; ++m)
    for (int n = 0; n < of.N; ++n) {
      const auto i = static_cast<std::size_t>(m * of.N + n);
      judge.expect(yours[i] == right[i], [&] {
        return concat(why(judge, of, yours, in_memory), where(of), ": c(", m, ",", n,
                      ")\n  expected = ", right[i],
                      "\n  yours    = ", yours[i] == untouched ? "not written" : text(yours[i]));
      });
    }
  for (int i = 0; i < std::ssize(in_memory); ++i)
    judge.expect(
        (i < of.M * of.ldc() && i % of.ldc() < of.N) || in_memory[static_cast<std::size_t>(i)] == untouched,
        [&] {
          return concat(
              "Your kernel writes beside c, whose rows are ldc apart.", where(of), ": address c + ", i,
              "\n  expected = not written\n  yours    = ", text(in_memory[static_cast<std::size_t>(i)]));
        });
  expect_tensor_cores(judge, of, ran.products);
}

}  // namespace

void check(Judge& judge) {
  for (const ThreadOrder order : {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffled})
    for (const Format format : {Format::f16, Format::bf16})
      for (const Sums sums : {Sums::f32, Sums::f16}) {
        if (format == Format::bf16 && sums == Sums::f16) continue;
        const auto expect_all = [&](int M, int N, int K, int gap) {
          for (const Trans ta : {Trans::no, Trans::yes})
            for (const Trans tb : {Trans::no, Trans::yes})
              expect_product(judge,
                             {M, N, K, gap, ta, tb, format, sums, static_cast<std::uint32_t>(judge.draw()),
                              static_cast<std::uint32_t>(judge.draw())},
                             order);
        };
        expect_all(16, 16, 16, 0);
        expect_all(16, 16, 16, 8);
        expect_all(16, 16, 48, 8);
        expect_all(32, 48, 80, 8);
        expect_all(48, 32, 0, 16);
      }
}

}  // namespace tinymp::exercise
