// Exercise 3.2: sums down the rows, each addition rounded. The oracle takes one column after the other, from
// top to bottom.

#include <lessons/lab/classroom/judge.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/dtype.h>
#include <tinymp/numeric/half.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace tinymp::exercise {
namespace {

constexpr float beside = 77;  // what lies between and behind the rows, and behind the sums

struct Case {
  std::int64_t rows, n, stride;
  DType format;
  std::vector<float> values, sums;  // some more than n sums
};

float rounded(DType format, float x) {
  return format == DType::f16 ? static_cast<float>(half(x)) : static_cast<float>(bfloat16(x));
}

/// What is rounded, and what is added.
struct Way {
  bool terms = false, steps = true, end = false, always_half = false;
  bool from_zero = false;
  std::int64_t rows = -1, columns = -1, stride = -1;
};

std::vector<float> sums(const Case& of, const Way& way) {
  const DType format = way.always_half ? DType::f16 : of.format;
  const std::int64_t stride = way.stride < 0 ? of.stride : way.stride;
  std::vector<float> all = of.sums;
  for (std::int64_t i = 0; i < (way.columns < 0 ? of.n : way.columns); ++i) {
    float& total = all[static_cast<std::size_t>(i)];
    float sum = way.from_zero ? 0 : total;
    for (std::int64_t row = 0; row < (way.rows < 0 ? of.rows : way.rows); ++row) {
      const float term = of.values[static_cast<std::size_t>(row * stride + i)];
      sum += way.terms ? rounded(format, term) : term;
      if (way.steps) sum = rounded(format, sum);
    }
    total = way.end ? rounded(format, sum) : sum;
  }
  return all;
}

using Sums = std::vector<float>;

/// For each case what came out.
std::vector<Sums> yours(Judge& judge, std::span<const Case> cases) {
  Message request;
  request.put(std::uint64_t{cases.size()});
  for (const Case& of : cases) {
    request.put(of.rows).put(of.n).put(of.stride).put(std::uint64_t{of.format == DType::f16 ? 1u : 0u});
    request.put_all(of.values).put_all(of.sums);
  }
  Message reply = judge.ask(request, [&] {
    return "Among " + std::to_string(cases.front().rows) + " to " + std::to_string(cases.back().rows) +
           " rows of up to 128 values.";
  });
  std::vector<Sums> all;
  for (const Case& of : cases) all.push_back(reply.take_all<float>(of.sums.size()));
  return all;
}

bool same(const std::vector<float>& x, const std::vector<float>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), [](float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  });
}

struct Misconception {
  const char* says;
  Way (*way)(const Case&);
};
constexpr std::array misconceptions{
    Misconception{"Your code never rounds the sums: that is an FP32 accumulator, with FP16 on its label.",
                  [](const Case&) { return Way{.steps = false}; }},
    Misconception{"Your code keeps the sums in FP32 and rounds once, at the end. An FP16 accumulator rounds "
                  "after each addition; that is why it stops.",
                  [](const Case&) { return Way{.steps = false, .end = true}; }},
    Misconception{"Your code rounds the terms, and not the sums: but it is the sum that lives in FP16.",
                  [](const Case&) { return Way{.terms = true, .steps = false}; }},
    Misconception{
        "Your code rounds the terms, and the sum once, at the end: it is to be rounded after each addition.",
        [](const Case&) { return Way{.terms = true, .steps = false, .end = true}; }},
    Misconception{"Your code rounds the terms before they are added. They come in FP32, and only the result "
                  "of the addition is rounded: once, not twice.",
                  [](const Case&) { return Way{.terms = true}; }},
    Misconception{
        "Your code begins the sums at 0 again: they go on from what they are, since rows come in pieces.",
        [](const Case&) { return Way{.from_zero = true}; }},
    Misconception{
        "Your code begins the next row n values further on, not `stride`: rows may be parts of longer ones.",
        [](const Case& c) { return Way{.stride = c.n}; }},
    Misconception{"Your code leaves out the last row.",
                  [](const Case& c) { return Way{.rows = std::max<std::int64_t>(0, c.rows - 1)}; }},
    Misconception{"Your code leaves out the last column.",
                  [](const Case& c) { return Way{.columns = std::max<std::int64_t>(0, c.n - 1)}; }},
    Misconception{"Your code rounds the sums to half, whatever `format` says.",
                  [](const Case&) { return Way{.always_half = true}; }},
};

/// What came out for some cases, from the first on.
struct Answers {
  std::span<const Case> cases;
  std::vector<Sums> yours;
};

std::string why(const Answers& all, std::size_t one) {
  std::string best = "Your code gives other sums.";
  std::int64_t most = 0;
  for (const Misconception& misconception : misconceptions) {
    const auto agrees = [&](std::size_t i) {
      return same(sums(all.cases[i], misconception.way(all.cases[i])), all.yours[i]);
    };
    if (!agrees(one)) continue;
    std::int64_t agree = 0;
    for (std::size_t i = 0; i < all.cases.size(); ++i) agree += agrees(i) ? 1 : 0;
    if (agree > most) best = misconception.says;
    most = std::max(most, agree);
  }
  return best;
}

std::string number(DType format, float x) {
  const bool is_half = format == DType::f16 && static_cast<float>(half(x)) == x;
  return is_half ? half_fields(half(x).bits()) + " (" + decimal(x) + ")" : decimal(x);
}

std::string report(const Answers& all, std::size_t which, std::size_t column, float right) {
  const Case& one = all.cases[which];
  const float got = all.yours[which][column];
  std::string text = why(all, which) + "\n  " + std::to_string(one.rows) +
                     " rows, n = " + std::to_string(one.n) + ", stride = " + std::to_string(one.stride) +
                     ", " + (one.format == DType::f16 ? "f16" : "bf16") + ", column " +
                     std::to_string(column) + ": ";
  if (column >= static_cast<std::size_t>(one.n)) {
    text += "behind the sums, not yours";
  } else {
    text += decimal(one.sums[column]);
    for (std::int64_t row = 0; row < std::min<std::int64_t>(one.rows, 6); ++row)
      text += " + " + decimal(one.values[static_cast<std::size_t>(row * one.stride) + column]);
    if (one.rows > 6) text += " + ...";
  }
  return text + "\n  expected = " + number(one.format, right) + "\n  yours    = " + number(one.format, got);
}

/// 0 to 1.
float noise(std::int64_t k, std::uint32_t salt) {
  std::uint32_t bits = static_cast<std::uint32_t>(k + 1) * 0x9e37'79b9u + salt;
  bits = (bits ^ bits >> 15) * 0x2c1b'3c6du;
  return static_cast<float>((bits ^ bits >> 12) >> 8) * 0x1p-24f;
}

enum class Terms : std::uint8_t { ones, noise, signs, large };

float term(Terms kind, std::int64_t row, std::int64_t i, std::uint32_t salt) {
  if (kind == Terms::ones) return 1;
  if (kind == Terms::large) return 30000;  // three of them are infinite in FP16
  const float x = noise(row * 131 + i, salt);
  return kind == Terms::noise ? x : 2 * x - 1;
}
float begin_with(Terms kind, std::int64_t i) {
  if (kind == Terms::ones) return i % 2 == 0 ? 2048.0f : 256.0f;  // where FP16 and bfloat16 stop
  return kind == Terms::noise ? static_cast<float>(i) : 0.0f;
}

std::vector<Case> cases(std::uint32_t salt) {
  std::vector<Case> all;
  for (const std::int64_t rows : {0, 1, 2, 3, 5, 64, 1000})
    for (const std::int64_t n : {1, 2, 3, 0, 8, 17, 128})
      for (const std::int64_t gap : {0, 3})
        for (const DType format : {DType::f16, DType::bf16})
          for (const Terms kind : {Terms::ones, Terms::noise, Terms::signs, Terms::large}) {
            Case one{rows, n, n + gap, format, {}, {}};
            for (std::int64_t row = 0; row < rows; ++row)
              for (std::int64_t i = 0; i < one.stride; ++i)
                one.values.push_back(i < n ? term(kind, row, i, salt) : beside);
            one.values.insert(one.values.end(), static_cast<std::size_t>(one.stride + 1), beside);
            for (std::int64_t i = 0; i < n + 8; ++i) one.sums.push_back(i < n ? begin_with(kind, i) : beside);
            all.push_back(std::move(one));
          }
  return all;
}

}  // namespace

void check(Judge& judge) {
  const std::vector<Case> all = cases(static_cast<std::uint32_t>(judge.draw()));
  // Those of few rows first: who writes where nothing is his is told so before it crashes.
  const auto few = static_cast<std::size_t>(
      std::count_if(all.begin(), all.end(), [](const Case& one) { return one.rows <= 5; }));
  Answers answers;
  for (const std::size_t end : {few, all.size()}) {
    const std::size_t begin = answers.yours.size();
    for (Sums& some : yours(judge, {all.data() + begin, end - begin}))
      answers.yours.push_back(std::move(some));
    answers.cases = {all.data(), end};
    for (std::size_t one = begin; one < end; ++one) {
      const Sums right = sums(all[one], {}), &got = answers.yours[one];
      for (std::size_t i = 0; i < right.size(); ++i)
        judge.expect(std::bit_cast<std::uint32_t>(right[i]) == std::bit_cast<std::uint32_t>(got[i]),
                     [&] { return report(answers, one, i, right[i]); });
    }
  }
}

}  // namespace tinymp::exercise
