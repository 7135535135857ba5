#include <lessons/lab/report/heat_map.h>
#include <lessons/lab/report/html_parts.h>
#include <tests/catch.h>
#include <tests/report/sample_runs.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/half.h>
#include <cmath>

using namespace tinymp;
using namespace tinymp::report;

namespace {

/// A look at `step`: one gradient of 2^exponent for each given exponent.
train::StepSizes look_at(std::int64_t step, const std::vector<int>& exponents) {
  train::StepSizes look{.step = step, .parameters = {{.name = "1 <b>"}}};
  for (const int exponent : exponents) {
    train::Histogram one{.first = exponent, .counts = {1}};
    look.parameters[0].gradients.sizes += one;
  }
  return look;
}

Run run_with(std::vector<train::StepSizes> looks) {
  Run run;
  run.header.name = "FP16 </b>";
  run.steps.push_back({.step = 400, .loss = 1});
  run.sizes = std::move(looks);
  return run;
}

HeatMap map_of(const Run& run, std::size_t columns = 100) {
  const std::vector<Group> groups = group_by_recipe(std::span(&run, 1));
  const std::optional<HeatMap> map = heat_map(groups[0], columns);
  REQUIRE(map.has_value());
  return *map;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("a heat map has a column a look and a row a power of two, each column adding up to 1") {
  const Run run =
      run_with({look_at(1, {-20, -20, -10, 3}), look_at(11, {-70, -41, -20, 60}), look_at(21, {0})});
  const HeatMap map = map_of(run);
  REQUIRE(map.columns.size() == 3);
  CHECK(map.columns[0].from == 1);
  CHECK(map.columns[0].to == 11);
  CHECK(map.columns[2].to == 31);
  CHECK(map.low == -64);  // a look reaches farther; the map does not
  CHECK(map.high == 40);
  for (std::size_t column = 0; column < 3; ++column) {
    double sum = 0;
    for (int row = 0; row < map.rows(); ++row) sum += map.share(column, row);
    CHECK(sum == Approx(1));
  }
  CHECK(map.share(0, map.high - -20) == 0.5);
  CHECK(map.share(1, 0) == 0.25);               // 2^60, in the row at the upper edge
  CHECK(map.share(1, map.rows() - 1) == 0.25);  // 2^-70, at the lower
  CHECK(map.share(2, map.high) == 1);
}

TEST_CASE("looks share columns where there are many, and one look makes no map") {
  std::vector<train::StepSizes> looks;
  for (int i = 0; i < 90; ++i) looks.push_back(look_at(1 + 10 * i, {i < 45 ? -30 : -5}));
  const Run run = run_with(looks);
  const HeatMap map = map_of(run, 20);
  CHECK(map.columns.size() == 18);
  CHECK(map.looks == 90);
  CHECK(map.columns[1].from == 51);
  CHECK(map.columns[17].to == 901);
  const Run once = run_with({look_at(1, {0})});
  CHECK_FALSE(heat_map(group_by_recipe(std::span(&once, 1))[0], 9).has_value());
}

TEST_CASE("the limits of the formats are those of the types, and of the published FP8") {
  const auto log_of = [](auto value) { return std::log2(static_cast<double>(static_cast<float>(value))); };
  const FormatLimits &fp16 = format_limits[0], &e5m2 = format_limits[1], &e4m3 = format_limits[2],
                     &bf16 = format_limits[3];
  CHECK(fp16.smallest == log_of(std::numeric_limits<half>::denorm_min()));
  CHECK(fp16.smallest_normal == log_of(std::numeric_limits<half>::min()));
  CHECK(fp16.largest == Approx(log_of(std::numeric_limits<half>::max())).epsilon(1e-6));
  CHECK(bf16.smallest == log_of(std::numeric_limits<bfloat16>::denorm_min()));
  CHECK(bf16.smallest_normal == log_of(std::numeric_limits<bfloat16>::min()));
  CHECK(bf16.largest == Approx(log_of(std::numeric_limits<bfloat16>::max())).epsilon(1e-6));
  // E5M2: exponents -14 .. 15, 2 bits. E4M3: -6 .. 8, 3 bits, the last mantissa of the last exponent is NaN.
  CHECK(e5m2.smallest == -14 - 2);
  CHECK(e5m2.largest == Approx(log_of(1.75 * std::ldexp(1, 15))).epsilon(1e-6));
  CHECK(e4m3.smallest == -6 - 3);
  CHECK(e4m3.largest == Approx(log_of(1.75 * std::ldexp(1, 8))).epsilon(1e-6));
}

TEST_CASE("levels go up with the share, and the smallest share is seen") {
  CHECK(heat_level(0) == 0);
  CHECK(heat_level(1e-9) == 1);
  CHECK(heat_level(1) == 6);
  for (int i = 0; i + 1 < 1000; ++i) CHECK(heat_level(i / 1000.0) <= heat_level((i + 1) / 1000.0));
}

TEST_CASE("a map in words and as a table: what FP16 flushes, what overflows") {
  const Run run = run_with({look_at(1, {-25, -24, 16, 17}), look_at(11, {-30, -30, -30, -2})});
  const HeatMap map = map_of(run);
  CHECK(heat_words(map) ==
        "At step 1: half are 2^-24 or smaller, 25 % too small for FP16, 25 % too large. At step 11: half are "
        "2^-30 or "
        "smaller, 75 % too small for FP16, 0 % too large.");
  const Table table = heat_table(map);
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0] == std::vector<std::string>{"1", "2^-25", "2^-24", "2^17", "25 %", "25 %"});
}

TEST_CASE("on the page a map is drawn without scripts, in words too, and fits the page") {
  ReportSection section = sample::trained();
  const std::vector<Group> groups = group_by_recipe(section.runs);
  const std::string html = heat_maps_html(groups);
  CHECK(count(html, "<figure class=\"heat card\"") == 3);
  CHECK(count(html, "role=\"img\" aria-label=\"Exponents of the gradients against the step: ") == 3);
  CHECK(count(html, "<summary>As a table</summary>") == 3);
  for (const char* const limit :
       {"65504", "2⁻¹⁴", "2⁻²⁴", "57344", "2⁻¹⁶", "448", "2⁻⁹", "3.4·10³⁸", "2⁻¹²⁶"}) {
    INFO(limit);
    CHECK(count(html, ">" + std::string(limit)) + count(html, "↑ " + std::string(limit)) +
              count(html, "↓ " + std::string(limit)) >=
          3);
  }
  const Run run = run_with({look_at(1, {-20}), look_at(11, {-30})});
  const std::string escaped = heat_maps_html(group_by_recipe(std::span(&run, 1)));
  CHECK(escaped.find("FP16 &lt;/b&gt;") != std::string::npos);
  CHECK(count(escaped, "FP16 </b>") == 0);
  CHECK(heat_maps_html({}).empty());

  std::vector<Run> many(30, run);
  std::vector<Group> thirty;
  for (const Run& one : many) thirty.push_back({"a", {&one}});
  CHECK(count(heat_maps_html(std::span(thirty).first(4)), "<summary>1 more map</summary>") == 1);
  const std::string folded = heat_maps_html(thirty);
  CHECK(count(folded, "<figure") == 12);
  CHECK(count(folded, "<summary>9 more maps of 27 more groups</summary>") == 1);
}
