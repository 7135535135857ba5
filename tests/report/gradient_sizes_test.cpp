#include <lessons/lab/report/gradient_sizes_terminal.h>
#include <lessons/lab/report/html.h>
#include <lessons/lab/report/html_parts.h>
#include <tests/catch.h>
#include <tests/report/sample_runs.h>
#include <sstream>

using namespace tinymp;
using namespace tinymp::report;
using train::GradientSizes;
using train::Histogram;
using train::UpdateSizes;

namespace {

constexpr TerminalStyle unicode{.unicode = true, .colour = false, .width = 80};
constexpr TerminalStyle ascii{.unicode = false, .colour = false, .width = 80};

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

/// A run of one logged step that was looked at: 1000 gradients of "1 (4, 250)", of which 300 lie at 2^-30 and
/// 100 at 2^-27, 500 of "2 <b>", of which 200 are zero.
train::Run looked_at(const std::string& name, const Recipe& recipe, double scale = 1) {
  train::Run run;
  run.path = name + ".jsonl";
  run.header.name = name;
  run.header.recipe = recipe;
  run.header.metric = "test MSE";
  run.steps.push_back({.step = 100, .loss = 0.5, .scale = scale});
  const Histogram first{.first = -30,
                        .counts = {300, 0, 0, 100, 0, 0, 0, 0, 200, 0, 0, 0, 0, 0, 0, 0, 0, 0, 400}};
  const Histogram second{.zeros = 200, .first = -60, .counts = {1}};
  Histogram rest{.first = -8, .counts = {295, 0, 0, 0, 4}};
  rest += second;
  train::StepSizes sizes{.step = 100, .scale = scale, .parameters = {}};
  sizes.parameters.push_back(
      {"1 (4, 250)", {.sizes = first, .largest = 0x1p-12, .subnormal = 200, .flushed = 450}, {}});
  sizes.parameters.push_back({"2 <b>", {.sizes = rest, .largest = 0x1p-4, .flushed = 1}, {}});
  sizes.parameters[0].updates =
      UpdateSizes{.ratios = {.zeros = 10, .first = 4, .counts = {90, 0, 0, 100, 0, 0, 0, 300, 500}},
                  .underflowed = 50,
                  .absorbed = 600};
  run.sizes = {sizes};
  return run;
}

Recipe scaled(float s) {
  Recipe recipe = recipes::fp16_static;
  recipe.scaling = StaticScaling{.factor = s};
  return recipe;
}

}  // namespace

TEST_CASE("what is shown is the last look of the first run that has one") {
  std::vector<train::Run> runs = {looked_at("a", recipes::fp16_master), looked_at("a", recipes::fp16_master)};
  runs[0].sizes.clear();
  runs[1].header.seed = 7;
  runs[1].sizes.push_back(runs[1].sizes[0]);
  runs[1].sizes.back().step = 200;
  const std::vector<Group> groups = group_by_recipe(runs);
  REQUIRE(groups.size() == 1);
  const LastSizes look = *last_sizes(groups[0]);
  CHECK(look.run == &runs[1]);
  CHECK(look.sizes->step == 200);
  CHECK(gradient_bars(look, "a").title == "Sizes of the gradients");
  CHECK(gradient_bars(look, "a").of == "a, step 200, seed 7");
  runs[1].sizes.back().parameters[1].gradients.sizes.nonfinite = 1;
  CHECK(last_sizes(groups[0])->sizes->step == 100);  // step 200 has NaN already
  runs[1].sizes.front().parameters[1].gradients.sizes.nonfinite = 1;
  CHECK(last_sizes(groups[0])->sizes->step == 200);
  runs[1].sizes.clear();
  CHECK_FALSE(last_sizes(groups[0]));
  CHECK(terminal_sizes(groups, ascii).empty());
  CHECK(sizes_html(groups).empty());
}

TEST_CASE("bars: every gradient is in one of them, what lies beyond the ends in the last") {
  const train::Run run = looked_at("a", recipes::fp16_master);
  const Bars bars = gradient_bars({&run, &run.sizes[0]}, "a");
  std::int64_t sum = 0;
  for (const std::int64_t count : bars.counts) sum += count;
  CHECK(sum == 1300);
  CHECK(bars.total == 1300);
  CHECK(bars.share(-30) == 300 / 1300.0);
  CHECK(bars.share(bars.first) == 1 / 1300.0);  // 2^-60
  CHECK(bars.highest() == 400 / 1300.0);
  CHECK(bars.region_of(-25).is_lost);
  CHECK_FALSE(bars.region_of(-24).is_lost);
  CHECK(bars.region_of(-14).name == "subnormal");
  CHECK(bars.region_of(-13).name == "normal");
  CHECK(bars.region_of(17).is_lost);
  for (std::size_t i = 1; i < bars.regions.size(); ++i)
    CHECK(bars.regions[i].from == bars.regions[i - 1].to + 1);
  CHECK(bars.regions.back().to == bars.last());
}

TEST_CASE("in words: what FP16 loses, and what a larger S would save") {
  const train::Run run = looked_at("a", recipes::fp16_master);
  // 401 of 1300 up to 2^-25; times 8: 100 of them leave; 2^6: all but the one at 2^-60, which is 0.08 %.
  CHECK(gradient_bars({&run, &run.sizes[0]}, "a").words ==
        std::vector<std::string>{
            "31 % of the gradients, as FP32 computes them, are 2^-25 or smaller, which FP16 "
            "rounds to zero. 7.7 % would be saved by S = 8, 31 % by S = 64.",
            "In this run 35 % of them are zero.", "The largest is 0.062; S = 2^20 would make it overflow."});
  const train::Run big = looked_at("b", scaled(1024), 1024);
  const std::vector<std::string> words = gradient_bars({&big, &big.sizes[0]}, "b").words;
  CHECK(words[0].find("7.7 % would be saved by 8 times this S, 31 % by 64 times this S.") !=
        std::string::npos);
  CHECK(gradient_bars({&big, &big.sizes[0]}, "b").title == "Sizes of the gradients times S = 1024");
  CHECK(update_bars({&run, &run.sizes[0]}, "a")->words ==
        std::vector<std::string>{
            "80 % of the updates are at least 2048 times smaller than their weight, too small for most FP16 "
            "weights; these weights are FP32.",
            "In this run 65 % were lost: 5.0 % underflowed, 60 % absorbed."});
  train::Run bf16 = run;
  bf16.header.recipe = recipes::bf16_weights;
  CHECK(update_bars({&bf16, &bf16.sizes[0]}, "a")->words[0] ==
        "80 % of the updates are at least 2048 times smaller than their weight, too small for most FP16 "
        "weights. These "
        "weights are BF16: 256 times smaller is too small for most, and 80 % are.");
  CHECK(gradient_bars({&bf16, &bf16.sizes[0]}, "a")
            .words[0]
            .ends_with("31 % by S = 64. This run keeps them in BF16, whose range is that of FP32."));
  train::Run sunk = run;  // more is zero than FP16 would have to flush
  sunk.sizes[0].parameters[0].gradients.flushed = 900;
  CHECK(
      gradient_bars({&sunk, &sunk.sizes[0]}, "a").words[1] ==
      "In this run 69 % of them are zero: most of those could be held, but what they are made of was flushed "
      "on its way.");
}

TEST_CASE("what overflows is said, and so is that nothing is lost") {
  train::Run run = looked_at("a", scaled(0x1p20f), 0x1p20);
  GradientSizes& g = run.sizes[0].parameters[0].gradients;
  g = {.sizes = {.nonfinite = 1, .first = 10, .counts = {97, 0, 0, 0, 0, 0, 2}},
       .largest = 65530,
       .overflowed = 1};
  run.sizes[0].parameters.pop_back();
  CHECK(gradient_bars({&run, &run.sizes[0]}, "a").words ==
        std::vector<std::string>{"None of the gradients, as FP32 computes them, is too small for FP16.",
                                 "1.0 % are infinite or NaN, in FP32 too.",
                                 "1.0 % lie above 65504 and become infinite."});
  // No S is advised that makes the largest overflow: from 2^6 on 2048 does.
  g = {.sizes = {.first = -40, .counts = {50}}, .largest = 2048};
  g.sizes += {.first = 11, .counts = {50}};
  CHECK(gradient_bars({&run, &run.sizes[0]}, "a").words[0].find("by 16 times this S.") != std::string::npos);
  g = {.sizes = {.zeros = 5}};
  run.sizes[0].parameters[0].updates = UpdateSizes{};
  CHECK(gradient_bars({&run, &run.sizes[0]}, "a").words[0] == "Every gradient is zero in FP32 already.");
  CHECK(update_bars({&run, &run.sizes[0]}, "a")->words[0] == "No update moved anything, not even in FP32.");
  for (const std::string& line : lines_of(terminal_bars(gradient_bars({&run, &run.sizes[0]}, "a"), unicode)))
    CHECK(display_width(line) <= 80);
  run.sizes[0].parameters[0].updates.reset();
  CHECK_FALSE(update_bars({&run, &run.sizes[0]}, "a"));
}

TEST_CASE("no S is advised, in words or in the table, that makes the largest overflow") {
  train::Run run = looked_at("a", recipes::fp16_master);
  double& largest = run.sizes[0].parameters[1].gradients.largest;
  const auto says = [&](const char* part) {
    return gradient_bars({&run, &run.sizes[0]}, "a").words[0].find(part) != std::string::npos;
  };
  const auto column = [&] { return gradient_table(run.sizes[0]).header.back(); };
  largest = 8189;  // 8 times this is 65512, which rounds to 65504
  CHECK(says(" 7.7 % would be saved by S = 8."));
  CHECK(column() == "S = 8 saves");
  largest = 8190;                                // 65520
  CHECK(says(" 0 % would be saved by S = 4."));  // 4 x 2^-27 is zero still
  CHECK(column() == "S = 4 saves");
  CHECK(gradient_table(run.sizes[0]).rows[0].back() == "0 %");
  largest = 20000;
  CHECK(says(" 0 % would be saved by S = 2."));
  largest = 40000;
  CHECK(says(" No larger S can save them: the largest would overflow."));
  CHECK_FALSE(says("would be saved"));
  CHECK(column() == "infinite");
  run.sizes[0].scale = 1024;
  largest = 16000;
  CHECK(says(" would be saved by 4 times this S."));
  CHECK(column() == "4 S saves");
}

TEST_CASE("a row for each parameter, and one for all") {
  const train::Run run = looked_at("a", recipes::fp16_master);
  const Table gradients = gradient_table(run.sizes[0]);
  CHECK(gradients.header == std::vector<std::string>{"parameter", "gradients", "zero", "flushed", "too small",
                                                     "subnormal", "S = 8 saves"});
  REQUIRE(gradients.rows.size() == 3);
  CHECK(gradients.rows[0] ==
        std::vector<std::string>{"1 (4, 250)", "1000", "0 %", "45 %", "40 %", "20 %", "10 %"});
  CHECK(gradients.rows[1] ==
        std::vector<std::string>{"2 <b>", "500", "40 %", "0.3 %", "0.3 %", "0 %", "0 %"});
  CHECK(gradients.rows[2][0] == "all");
  CHECK(gradient_table(looked_at("b", scaled(8), 8).sizes[0]).header.back() == "8 S saves");
  train::Run high = run;
  high.sizes[0].parameters[0].gradients.overflowed = 250;
  high.sizes[0].parameters[0].gradients.largest = 70000;
  CHECK(gradient_table(high.sizes[0]).header.back() == "infinite");
  CHECK(gradient_table(high.sizes[0]).rows[0].back() == "25 %");
  const Table updates = update_table(run.sizes[0]);
  REQUIRE(updates.rows.size() == 2);
  CHECK(updates.rows[0] == std::vector<std::string>{"1 (4, 250)", "1000", "80 %", "5.0 %", "60 %"});
}

TEST_CASE("bars with characters, in ASCII: what is lost looks otherwise than what is kept") {
  const train::Run run = looked_at("a", recipes::fp16_master);
  CHECK(terminal_bars(gradient_bars({&run, &run.sizes[0]}, "a"), ascii) ==
        "Sizes of the gradients: a, step 100, seed 0\n"
        "            zero in FP16     | subnormal |            normal            |inf\n"
        "  31 % |                     |           | #                            |\n"
        "       |               :     |           | #                            |\n"
        "       |               :     |           | #   #                        |\n"
        "       |               :     |  #        | #   #                        |\n"
        "       |               :  :  |  #        | #   #                        |\n"
        "       |.              :  :  |  #        | #   #   .                    |\n"
        "       +---------------------+-----------+------------------------------+----\n"
        "             2^-40   2^-32    2^-24   2^-16    2^-8    2^0     2^8     2^16\n");
  CHECK(terminal_bars(*update_bars({&run, &run.sizes[0]}, "a"), ascii) ==
        "Weights divided by their updates: a, step 100, seed 0\n"
        "             below 2048      |        2048 and more\n"
        "  51 % |                     | :\n"
        "       |                     | :\n"
        "       |                     |::\n"
        "       |                     |::\n"
        "       |                     |::\n"
        "       |              #  #   |::\n"
        "       +---------------------+------------------------------\n"
        "          2^-8    2^0     2^8      2^16    2^24    2^32    2^40\n");
}

TEST_CASE("bars with characters, in Unicode") {
  const train::Run run = looked_at("a", recipes::fp16_master);
  CHECK(terminal_bars(gradient_bars({&run, &run.sizes[0]}, "a"), unicode) ==
        "Sizes of the gradients: a, step 100, seed 0\n"
        "            zero in FP16     │ subnormal │            normal            │inf\n"
        "  31 % │                     │           │ █                            │\n"
        "       │               ░     │           │ █   ▃                        │\n"
        "       │               ░     │           │ █   █                        │\n"
        "       │               ░     │  █        │ █   █                        │\n"
        "       │               ░  ░  │  █        │ █   █                        │\n"
        "       │.              ░  ░  │  █        │ █   █   ▁                    │\n"
        "       └─────────────────────┴───────────┴──────────────────────────────┴────\n"
        "             2⁻⁴⁰    2⁻³²     2⁻²⁴    2⁻¹⁶     2⁻⁸     2⁰      2⁸      2¹⁶\n");
}

TEST_CASE("on a narrow terminal there are words and tables, and no bars") {
  const std::vector<train::Run> runs = {looked_at("a", recipes::fp16_master)};
  const std::string text =
      terminal_sizes(group_by_recipe(runs), {.unicode = false, .colour = false, .width = 60});
  for (const std::string& line : lines_of(text)) CHECK(line.size() <= 76);
  CHECK(text.find("S = 8") != std::string::npos);
  CHECK(text.find("2^-40") == std::string::npos);
}

TEST_CASE("of several groups the worst is drawn, the others are told") {
  Recipe half_scaled = scaled(0.5f);
  half_scaled.master = DType::f16;
  std::vector<train::Run> runs = {looked_at("FP32", recipes::fp32),
                                  looked_at("little", recipes::fp16_weights),
                                  looked_at("much", half_scaled, 0.5)};
  for (train::ParameterSizes& p : runs[1].sizes[0].parameters) {
    p.gradients.sizes.first += 20;
    p.gradients.flushed = 0;
  }
  runs[1].sizes[0].parameters[0].updates->absorbed = 10;
  const std::string text = terminal_sizes(group_by_recipe(runs), ascii);
  CHECK(count(text, "2^-40") == 1);
  CHECK(count(text, "S saves") == 1);
  CHECK(text.find("Sizes of the gradients times S = 0.5: much, step 100, seed 0\n") != std::string::npos);
  CHECK(text.find("Sizes of the gradients: little, step 100, seed 0. ") != std::string::npos);
  CHECK(text.find("gradients: FP32") == std::string::npos);  // it flushes nothing
  CHECK(count(text, "Weights divided by their updates: ") == 2);
  CHECK(count(text, "underflowed  absorbed\n") == 1);
  // Alone, FP32 shows what FP16 would have to hold.
  runs.resize(1);
  CHECK(terminal_sizes(group_by_recipe(runs), ascii).find("gradients: FP32, step 100") != std::string::npos);
  // Where next to nothing is lost nothing is drawn, and the worst speaks for all.
  runs = {looked_at("fine", recipes::fp16_master), looked_at("finer", recipes::fp16_master)};
  runs[0].sizes[0].parameters = runs[1].sizes[0].parameters = {
      {"1 (2)", {.sizes = {.first = -10, .counts = {99}}, .largest = 0x1p-10}, {}}};
  CHECK(count(terminal_sizes(group_by_recipe(runs), ascii), "\n") == 3);
}

TEST_CASE(
    "plain text has no escapes and no byte beyond ASCII, whatever the names are - colour adds escapes only") {
  const std::vector<train::Run> runs = {looked_at("µ\x1b[31m", recipes::fp16_weights)};
  const std::vector<Group> groups = group_by_recipe(runs);
  const std::string text = terminal_sizes(groups, ascii);
  for (const char c : text) CHECK((c == '\n' || (c >= ' ' && c < 127)));
  for (const std::string& line : lines_of(text)) CHECK(line.size() <= 80);
  std::string stripped;
  const std::string coloured = terminal_sizes(groups, {.unicode = true, .colour = true, .width = 80});
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b') {
      i = coloured.find('m', i);
    } else {
      stripped += coloured[i];
    }
  }
  CHECK(stripped == terminal_sizes(groups, unicode));
}

TEST_CASE("what FP8 lost has a table, in the terminal and on the page, of a run that has such products") {
  std::vector<train::Run> runs = {looked_at("<i>eight</i>", recipes::fp8_e5m2),
                                  looked_at("b", scaled(1024), 1024)};
  runs[0].sizes[0].eight_bits = {{"activations", DType::e4m3, 1000, 120, 3},
                                 {"errors", DType::e5m2, 0, 0, 0}};
  const std::vector<Group> groups = group_by_recipe(runs);
  const std::string text = terminal_sizes(groups, ascii);
  CHECK(count(text, "FP8 on the way into products: <i>eight</i>, step 100, seed 0\n") == 1);
  CHECK(count(text, "FP8 on the way") == 1);
  CHECK(count(text, "\nactivations  FP8 E4M3    1000      12 %           0.3 %\n") == 1);
  CHECK(count(text, "\nerrors       FP8 E5M2       0         -               -\n") == 1);
  for (const std::string& line : lines_of(text)) CHECK(line.size() <= 80);
  const std::string html = sizes_html(groups);
  CHECK(count(html, "FP8 on the way into products: &lt;i&gt;eight&lt;/i&gt;, step 100, seed 0") == 1);
  CHECK(count(html, "FP8 E4M3</td>") == 1);
  CHECK(count(html, "12 %</td>") >= 1);
  runs[0].sizes[0].eight_bits.clear();
  CHECK(count(sizes_html(groups), "FP8 on the way") == 0);
  CHECK(count(terminal_sizes(groups, ascii), "FP8 on the way") == 0);
}

TEST_CASE("on the page: bars, limits, words, a table for each group - names are escaped") {
  std::vector<train::Run> runs = {looked_at("<i>a</i>", recipes::fp16_master),
                                  looked_at("b", scaled(1024), 1024), looked_at("c", recipes::fp32)};
  runs[2].sizes.clear();
  const std::vector<Group> groups = group_by_recipe(runs);
  const std::string html = sizes_html(groups);
  CHECK(count(html, "<figure") == 4);
  CHECK(count(html, "<table>") == 4);
  CHECK(count(html, "<i>") == 0);
  CHECK(count(html, "<b>") == 0);
  CHECK(html.find("2 &lt;b&gt;") != std::string::npos);
  CHECK(count(html, "class=\"limit\"") == 2 * (3 + 1));
  CHECK(count(html, "too small: ") == 2);
  CHECK(html.find(
            "2⁻²⁵ or smaller, which FP16 rounds to zero. 7.7 % would be saved by S = 8, 31 % by S = 64.") !=
        std::string::npos);

  // Seven bars of gradients, those up to 2^-25 hollow; four of updates, from 2048 on hollow.
  const Bars gradients = gradient_bars(*last_sizes(groups[0]), "a");
  const std::string svg = svg_bars(gradients, 1);
  CHECK(count(svg, "<rect") == 7);
  CHECK(count(svg, "fill:none") == 3);
  CHECK(count(svg, "fill:var(--c1)") == 4);
  CHECK(svg.find("aria-label=\"Sizes of the gradients: a, step 100, seed 0. 31 % of the gradients") !=
        std::string::npos);
  // 2^-25 and 2^-14 stand where their bars end: 21 and 32 of 66 bars from the left.
  CHECK(count(svg, "x1=\"31.82%\" x2=\"31.82%\"") == 1);
  CHECK(count(svg, "x1=\"48.48%\" x2=\"48.48%\"") == 1);
  // A name stands above the lines, which end with the drawing; on a narrow page not beside the next name.
  CHECK(count(svg, "class=\"limit\"") == 3);
  CHECK(count(svg, "y1=\"0\" y2=\"100%\"") == 3);
  CHECK(count(svg, "class=\"region raised\"") == 2);
  CHECK(svg.find("class=\"region raised\"") > svg.find(">zero in FP16<"));
  CHECK(html_report("Report", {}).find(".region.raised { transform: translateY(-14px); }") !=
        std::string::npos);
  const std::string ratios = svg_bars(*update_bars(*last_sizes(groups[0]), "a"), 0);
  CHECK(count(ratios, "<rect") == 4);
  CHECK(count(ratios, "fill:none") == 2);

  const std::vector<ReportSection> sections = {{"Q?", "", runs}};
  CHECK(html_report("Report", sections).find(html) != std::string::npos);
  std::ostringstream out;
  print_section(out, sections[0], ascii);
  CHECK(out.str().find(terminal_sizes(groups, ascii)) != std::string::npos);
}
