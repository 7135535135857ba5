#include <lessons/lab/report/curve_style.h>
#include <lessons/lab/report/html_parts.h>
#include <lessons/lab/report/recipes.h>
#include <tests/catch.h>
#include <tests/report/sample_runs.h>
#include <algorithm>

using namespace tinymp::report;
using tinymp::concat;

namespace {

const Setting& setting(const std::vector<Setting>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Setting::name);
  REQUIRE(found != all.end());
  return *found;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

}  // namespace

TEST_CASE("recipes side by side: a value a group, empty where a group has none") {
  const ReportSection section = sample::trained();
  const std::vector<Setting> all = settings_of(group_by_recipe(section.runs));
  using Values = std::vector<std::string>;
  CHECK(setting(all, "compute").values == Values{"f32", "f16", "f16"});
  CHECK(setting(all, "compute").differs());
  CHECK_FALSE(setting(all, "master").differs());
  CHECK(setting(all, "scaling").values == Values{"none", "dynamic", "static"});
  CHECK(setting(all, "scaling factor").values == Values{"", "", "2^24"});
  CHECK(setting(all, "scaling growth_interval").values == Values{"", "2000", ""});
  CHECK(setting(all, "fp32_norm").values == Values{"no", "no", "no"});
  CHECK(setting(all, "lr").values == Values{"0.01", "0.01", "0.01"});
  CHECK(setting(all, "seed").values == Values{"0; 1; 2", "0; 1; 2", "0; 1; 2"});
  // The fields of a scaling stand below its policy, whichever group has them.
  const auto place = [&](const std::string& name) { return &setting(all, name) - all.data(); };
  CHECK(place("scaling factor") > place("scaling"));
  CHECK(place("scaling growth_interval") > place("scaling"));
  CHECK(place("model") > place("scaling factor"));
  CHECK(std::ranges::find(all, "pieces", &Setting::name) == all.end());  // no run has any
}

TEST_CASE("a run of another program has a recipe and no formats, a group of several recipes has all") {
  ReportSection section = sample::trained();
  for (Run& run : section.runs) run.header.name = "one";
  section.runs[0].foreign_recipe = "their amp";
  const std::vector<Group> groups = {{"theirs", {&section.runs[0]}},
                                     {"ours", {&section.runs[1], &section.runs[3]}}};
  const std::vector<Setting> all = settings_of(groups);
  CHECK(setting(all, "recipe").values == std::vector<std::string>{"their amp", "fp16_dynamic; fp32"});
  CHECK(setting(all, "compute").values == std::vector<std::string>{"", "f16; f32"});
}

TEST_CASE("recipes side by side: micro-batches and recomputation") {
  ReportSection section = sample::trained();
  section.runs[0].header.micro_batches = 4;
  section.runs[0].header.recompute = "sqrt";
  const std::vector<Setting> all =
      settings_of(std::vector<Group>{{"a", {&section.runs[0]}}, {"b", {&section.runs[1]}}});
  CHECK(setting(all, "micro_batches").values == std::vector<std::string>{"4", "1"});
  CHECK(setting(all, "recompute").values == std::vector<std::string>{"sqrt", ""});
}

TEST_CASE("the same values in another order are no difference") {
  ReportSection section = sample::trained();
  for (const std::size_t i : {0u, 4u}) section.runs[i].header.optimizer = "sgd lr=0.001";
  for (const std::size_t i : {1u, 3u}) section.runs[i].header.optimizer = "sgd lr=0.5";
  section.runs[5].header.optimizer = "sgd lr=10";
  const std::vector<Group> groups = {{"one", {&section.runs[0], &section.runs[1]}},
                                     {"two", {&section.runs[3], &section.runs[4]}},
                                     {"three", {&section.runs[5], &section.runs[3]}}};
  const std::vector<Setting> all = settings_of(groups);
  CHECK(setting(all, "lr").values == std::vector<std::string>{"0.001; 0.5", "0.001; 0.5", "0.5; 10"});
}

TEST_CASE("on the page cells that differ from the baseline are marked, not by colour alone") {
  const ReportSection section = sample::trained();
  const std::vector<Group> groups = group_by_recipe(section.runs);
  RunsView view;
  view.against = "FP16, dynamic S";
  const std::string html = recipes_html(groups, compare_groups(groups, view));
  CHECK(html.find("differs from FP16, dynamic S") != std::string::npos);
  const std::size_t row = html.find(">compute</th>");
  CHECK(html.substr(row, html.find("</tr>", row) - row) ==
        ">compute</th><td class=\"differs\"><span>≠</span> f32</td><td>f16</td><td>f16</td>");
  CHECK(html.find("<tr class=\"alike\"><th scope=\"row\">master</th>") != std::string::npos);
  CHECK(recipes_html(groups, compare_groups(groups, {})).find("differs from FP32<") != std::string::npos);
}

TEST_CASE("memory is told where it was measured: a row a group, a column a kind") {
  const ReportSection section = sample::trained();
  const std::string html = memory_html(group_by_recipe(section.runs));
  CHECK(html.find("<h3>Memory</h3>") != std::string::npos);
  CHECK(count(html, "<tr><th scope=\"row\"><svg class=\"swatch\"") == 3);
  CHECK(html.find("the state (weights, masters, optimizer, gradients) takes ") != std::string::npos);
  ReportSection gap =
      section;  // a group that did not measure it has no row, and those below keep their colours
  for (Run& run : gap.runs)
    if (run.header.name == "FP32") run.result->memory = {}, run.result->peak_bytes = 0;
  const std::string two = memory_html(group_by_recipe(gap.runs));
  CHECK(count(two, "<tr><th scope=\"row\"><svg class=\"swatch\"") == 2);
  CHECK(two.find(concat(swatch(1), "<span>FP16, dynamic S</span>")) != std::string::npos);
  CHECK(memory_html(group_by_recipe(sample::small_updates().runs)).empty());
}

TEST_CASE("the differences to a baseline stand on the page, and only where they were asked for") {
  const ReportSection section = sample::trained();
  const std::vector<Group> groups = group_by_recipe(section.runs);
  const std::string html = comparison_html(compare_groups(groups, section.view), section.view);
  CHECK(html.find("<h3>test accuracy (%) against FP32</h3>") != std::string::npos);
  CHECK(html.find("95 % interval") != std::string::npos);
  CHECK(html.find(">baseline</td>") != std::string::npos);
  const ReportSection without = sample::small_updates();
  const std::vector<Group> plain = group_by_recipe(without.runs);
  CHECK(comparison_html(compare_groups(plain, {}), {}).empty());
}
