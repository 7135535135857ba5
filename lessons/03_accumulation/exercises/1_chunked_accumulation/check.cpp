// Exercise 3.1: chunked accumulation. The oracle goes over the products once and hands each to the sum of its
// chunk, number k / chunk.

#include <lessons/lab/classroom/judge.h>
#include <tinymp/numeric/accumulation.h>
#include <tinymp/numeric/half.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

namespace tinymp::exercise {
namespace {

struct Case {
  std::vector<float> a, b;  // behind the n numbers lie some more, which nobody may read
  std::int64_t n;
  Accumulation how;

  bool in_half() const { return how.format == DType::f16; }
  float rounded(float x) const { return in_half() ? static_cast<float>(half(x)) : x; }
  /// `sum` and the product k, rounded to FP32.
  float plus(float sum, std::int64_t k) const {
    return std::fma(a[static_cast<std::size_t>(k)], b[static_cast<std::size_t>(k)], sum);
  }
};

/// Where roundings happen, and which numbers count: the right way, and what people write instead.
struct Way {
  bool terms = false, steps = true, chunks = false, totals = true;  // what is rounded
  std::int64_t length;                                              // of a chunk
  std::int64_t n;
};

float sum(const Case& of, const Way& way) {
  const std::int64_t length = std::max<std::int64_t>(1, way.length);
  std::vector<float> sums(static_cast<std::size_t>((way.n + length - 1) / length));
  for (std::int64_t k = 0; k < way.n; ++k) {
    float& s = sums[static_cast<std::size_t>(k / length)];
    s = way.terms ? s + of.rounded(of.plus(0, k)) : of.plus(s, k);
    if (way.steps) s = of.rounded(s);
  }
  float total = 0;
  for (const float s : sums) {
    total += way.chunks ? of.rounded(s) : s;
    if (way.totals) total = of.rounded(total);
  }
  return of.rounded(total);
}

Way right_way(const Case& of) {
  return {.length = of.how.chunk == 0 ? std::max<std::int64_t>(1, of.n) : of.how.chunk, .n = of.n};
}
float right(const Case& of) { return sum(of, right_way(of)); }
/// For each case what came out.
std::vector<float> yours(Judge& judge, std::span<const Case> cases) {
  Message request;
  request.put(std::uint64_t{cases.size()});
  for (const Case& of : cases) {
    request.put(std::uint64_t{of.in_half() ? 1u : 0u}).put(of.how.chunk).put(of.n);
    request.put_all(of.a).put_all(of.b);
  }
  Message reply = judge.ask(request, [&] {
    const Case& last = cases.back();
    return cases.size() > 1 ? "Among up to " + std::to_string(last.n) + " numbers."
                            : "n = " + std::to_string(last.n) + ", chunk = " + std::to_string(last.how.chunk);
  });
  std::vector<float> sums;
  while (sums.size() < cases.size()) sums.push_back(reply.take<float>());
  return sums;
}

bool same(float x, float y) { return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y); }

struct Misconception {
  const char* says;
  Way (*way)(const Case&);
};
constexpr std::array misconceptions{
    Misconception{
        "Your code ignores the chunk: one chain goes through all products, and stops where a long sum stops.",
        [](const Case& c) {
          Way way = right_way(c);
          way.length = std::max<std::int64_t>(1, c.n);
          return way;
        }},
    Misconception{"Your code adds up the sums of the chunks in FP32. Their chain is kept in the format of "
                  "the accumulator too, and rounded after each addition: it is the same hardware.",
                  [](const Case& c) {
                    Way way = right_way(c);
                    way.totals = false;
                    return way;
                  }},
    Misconception{"Your code sums a chunk in FP32 and rounds it once, at its end. An FP16 accumulator rounds "
                  "after each product.",
                  [](const Case& c) {
                    Way way = right_way(c);
                    way.steps = false;
                    way.chunks = true;
                    return way;
                  }},
    Misconception{"Your code sums all in FP32 and rounds once, at the end: that is an FP32 accumulator.",
                  [](const Case& c) {
                    Way way = right_way(c);
                    way.steps = way.totals = false;
                    return way;
                  }},
    Misconception{
        "Your code loses the last chunk where n is no multiple of the chunk: it is shorter, and counts.",
        [](const Case& c) {
          Way way = right_way(c);
          way.n = c.n / way.length * way.length;
          return way;
        }},
    Misconception{"Your code goes on behind the n numbers: where n is no multiple of the chunk the last one "
                  "is shorter.",
                  [](const Case& c) {
                    Way way = right_way(c);
                    way.n = std::min((c.n + way.length - 1) / way.length * way.length, std::ssize(c.a));
                    return way;
                  }},
    Misconception{"Your code makes `chunk` chunks. `chunk` is how many products are in each of them.",
                  [](const Case& c) {
                    Way way = right_way(c);
                    if (c.how.chunk > 0) way.length = (c.n + c.how.chunk - 1) / c.how.chunk;
                    return way;
                  }},
    Misconception{"Your code rounds the product before it is added. Only the sum is rounded: the product of "
                  "two halves is exact inside the fma.",
                  [](const Case& c) {
                    Way way = right_way(c);
                    way.terms = true;
                    return way;
                  }},
};

std::string number(const Case& of, float x) {
  if (of.in_half() && same(of.rounded(x), x)) return half_fields(half(x).bits()) + " (" + decimal(x) + ")";
  return decimal(x);
}

/// yours: of each of the cases.
std::string why(std::span<const Case> cases, std::span<const float> yours, const Case& one, float its) {
  std::string best = "Your code gives another sum.";
  std::int64_t most = 0;
  const std::size_t many = std::min<std::size_t>(400, cases.size());
  for (const Misconception& misconception : misconceptions) {
    if (!same(sum(one, misconception.way(one)), its)) continue;
    std::int64_t agree = 0;
    for (std::size_t i = 0; i < many; ++i)
      agree += same(sum(cases[i], misconception.way(cases[i])), yours[i]) ? 1 : 0;
    if (agree > most) best = misconception.says;
    most = std::max(most, agree);
  }
  return best;
}

std::string show(const Case& of) {
  std::string text;
  for (std::int64_t k = 0; k < of.n && k < 8; ++k) {
    const auto at = static_cast<std::size_t>(k);
    text += (k == 0 ? "" : " + ") + decimal(of.a[at]);
    if (of.b[at] != 1) text += " x " + decimal(of.b[at]);
  }
  return of.n > 8 ? text + " + ..." : text;
}

/// x[k] for k < n, and some more.
template <class X>
std::vector<float> numbers(std::int64_t n, const X& x) {
  std::vector<float> all;
  for (std::int64_t k = 0; k < n + 70; ++k) all.push_back(x(k));
  return all;
}

/// -1 to 1.
float noise(std::int64_t k, std::uint32_t salt) {
  std::uint32_t bits = static_cast<std::uint32_t>(k) * 0x9e37'79b9u + salt * 0x85eb'ca6bu;
  bits = (bits ^ bits >> 15) * 0x2c1b'3c6du;
  return static_cast<float>(static_cast<std::int32_t>(bits ^ bits >> 12)) * 0x1p-31f;
}

/// The small ones, and the others behind them.
std::vector<Case> cases(std::uint32_t salt, std::size_t& small) {
  std::vector<Case> all;
  const auto one = [](std::int64_t) { return 1.0f; };
  const auto add = [&](std::int64_t n, std::int64_t chunk, const auto& a, const auto& b) {
    for (const DType format : {DType::f16, DType::f32})
      all.push_back({numbers(n, a), numbers(n, b), n, {.format = format, .chunk = chunk}});
  };
  for (std::int64_t n = 0; n <= 12; ++n)
    for (std::int64_t chunk = 1; chunk <= n + 2; ++chunk) {
      add(n, chunk, one, one);
      add(
          n, chunk, [](std::int64_t k) { return k == 0 ? 2048.0f : 1.0f; }, one);
      add(
          n, chunk, [](std::int64_t k) { return k == 0 ? 0x1p24f : 1.0f; }, one);
      add(
          n, chunk, [](std::int64_t k) { return k % 3 == 0 ? 1024.0f : 0.75f; }, one);
    }
  for (std::int64_t n = 1; n <= 12; ++n)
    for (std::int64_t chunk = 1; chunk <= n + 2; ++chunk) {
      add(
          n, chunk, [=](std::int64_t k) { return static_cast<float>(half(noise(k, salt + 1))); },
          [=](std::int64_t k) { return static_cast<float>(half(noise(k, salt + 2))); });
      add(
          n, chunk, [=](std::int64_t k) { return noise(k, salt + 3); },
          [=](std::int64_t k) { return noise(k, salt + 4); });
    }
  small = all.size();
  for (const std::int64_t n : {63, 64, 65, 200, 5000})
    for (const std::int64_t chunk : {1, 2, 7, 64, 100, 4999, 6000}) {
      add(n, chunk, one, one);
      add(
          n, chunk, [](std::int64_t) { return static_cast<float>(half(0.1f)); }, one);
      add(
          n, chunk, [=](std::int64_t k) { return noise(k, salt + 5); },
          [=](std::int64_t k) { return noise(k, salt + 6); });
    }
  add(
      40, 3, [](std::int64_t) { return 60000.0f; }, one);  // infinity
  add(
      3, 2, [](std::int64_t) { return -0.0f; }, one);  // a sum begins at +0
  for (const std::int64_t n : {0, 1, 9, 5000}) {
    add(n, 0, one, one);
    add(
        n, 0, [=](std::int64_t k) { return noise(k, salt + 7); },
        [=](std::int64_t k) { return noise(k, salt + 8); });
  }
  return all;
}

}  // namespace

void check(Judge& judge) {
  std::size_t small = 0;
  const std::vector<Case> all = cases(static_cast<std::uint32_t>(judge.draw()), small);
  const std::span<const Case> first(all.data(), small);
  const std::vector<float> sums = yours(judge, first);
  const auto expect_right = [&](const Case& one, float got) {
    const float expected = right(one);
    judge.expect(same(got, expected), [&] {
      return why(first, sums, one, got) + "\n  n = " + std::to_string(one.n) +
             ", chunk = " + std::to_string(one.how.chunk) + ", sums in " +
             (one.in_half() ? "half" : "float") + ": " + show(one) +
             "\n  expected = " + number(one, expected) + "\n  yours    = " + number(one, got);
    });
  };
  for (std::size_t i = 0; i < small; ++i) expect_right(all[i], sums[i]);
  // Whoever goes far beyond n may crash: one at a time.
  for (std::size_t i = small; i < all.size(); ++i) expect_right(all[i], yours(judge, {all.data() + i, 1})[0]);
}

}  // namespace tinymp::exercise
