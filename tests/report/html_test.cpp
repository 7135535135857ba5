#include <lessons/lab/report/curve_style.h>
#include <lessons/lab/report/html.h>
#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/terminal_curves.h>
#include <tests/catch.h>
#include <tests/data/files.h>
#include <tests/report/sample_runs.h>
#include <tests/train/small_disk.h>
#include <tinymp/base/error.h>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <tuple>

using namespace tinymp::report;
using tinymp::Error;

namespace {

std::vector<ReportSection> all_sections() {
  return {sample::small_updates(), sample::small_gradients(), sample::hostile()};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string between(const std::string& text, const std::string& first, const std::string& last) {
  const std::size_t begin = text.find(first);
  REQUIRE(begin != std::string::npos);
  const std::size_t end = text.find(last, begin + first.size());
  REQUIRE(end != std::string::npos);
  return text.substr(begin + first.size(), end - begin - first.size());
}

nlohmann::json data_of(const std::string& page) {
  return nlohmann::json::parse(
      between(page, "<script type=\"application/json\" id=\"tinymp-data\">", "</script>"));
}

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("text in a page is escaped") {
  CHECK(escape_html("a < b && \"c\" > 'd'") == "a &lt; b &amp;&amp; &quot;c&quot; &gt; &#39;d&#39;");
  CHECK(escape_html("größer ≥ 😀") == "größer ≥ 😀");
  CHECK(escape_html("a\x01\x7f\xff"
                    "b\tc\n") ==
        "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"
        "b\tc\n");
  CHECK(escape_script("</script><!-- & \xE2\x80\xA8 \xE2\x80\xA9") ==
        "\\u003c/script\\u003e\\u003c!-- \\u0026 \\u2028 \\u2029");
  CHECK(pretty_power("2^24") == "2²⁴");
  CHECK(pretty_power("2^-10") == "2⁻¹⁰");
  CHECK(pretty_power("2^x") == "2^x");
  CHECK(pretty_power("1024") == "1024");
  CHECK(pretty_powers("2^-25 or 2^x, 2^3.") == "2⁻²⁵ or 2^x, 2³.");
  // What turns the direction of writing could let a name look like another one.
  CHECK(escape_html("a\xE2\x80\xAE"
                    "b\xE2\x80\x8F"
                    "c\xE2\x81\xA6"
                    "d\xE2\x80\xA8") ==
        "a\xEF\xBF\xBD"
        "b\xEF\xBF\xBD"
        "c\xEF\xBF\xBD"
        "d\xEF\xBF\xBD");
}

TEST_CASE("hostile names stay names") {
  for (const bool live : {true, false}) {
    const std::vector<ReportSection> sections = {sample::hostile()};
    const std::string page = html_report("</title><script>throw 4</script>", sections, {.live = live});
    CHECK(count(page, "<script") == (live && !dygraphs_js().empty() ? 3 : 2));
    CHECK(count(page, "<script>throw") == 0);
    CHECK(count(page, "<img") == 0);
    CHECK(count(page, "<i>") == 0);
    CHECK(count(page, "<!--") == (live && !dygraphs_js().empty() ? 1 : 0));  // the licence of dygraphs
    CHECK(count(page, "</title>") == 1);
    CHECK(page.find("&lt;img src=http://example.invalid/y.png onerror=throw(3)&gt;") != std::string::npos);
    const nlohmann::json data = data_of(page);
    CHECK(data["sections"][0]["names"][0] == "<img src=http://example.invalid/y.png onerror=throw(3)>");
    CHECK(data["sections"][0]["names"][1] == "__proto__");
  }
}

TEST_CASE("a page refers to nothing outside itself") {
  for (const bool live : {true, false}) {
    const std::string page = html_report("Report", all_sections(), {.live = live});
    for (const char* outside :
         {" src=", "url(", "@import", "sourceMappingURL", "<link rel=\"stylesheet\"", "<iframe"}) {
      INFO(outside);
      // As text of a name it stands there escaped, with &lt; before it.
      CHECK(count(page, outside) == count(page, "img src=") * (std::string(outside) == " src="));
    }
    CHECK(page.find("default-src 'none'") != std::string::npos);
    CHECK(page.find("prefers-color-scheme: dark") != std::string::npos);
    CHECK(page.rfind("</html>\n") == page.size() - 8);
  }
}

TEST_CASE("the data of a page: every curve, gaps as null, the band of the seeds") {
  const nlohmann::json data = data_of(html_report("Report", all_sections()));
  const auto panels = [&](std::size_t section) { return data["sections"][section]["panels"]; };
  REQUIRE(data["sections"].size() == 3);
  CHECK(panels(0).size() == 2);
  CHECK(panels(0)[0]["series"].size() == 3);
  CHECK(panels(0)[1]["quantity"] == "lost");
  CHECK(panels(1).size() == 4);
  CHECK(panels(1)[3]["quantity"] == "skips");
  CHECK(panels(1)[3]["held"] == true);
  CHECK(panels(1)[0]["series"].size() == 5);
  CHECK(panels(1)[1]["scale"] == "powers of two");
  CHECK(panels(1)[2]["series"].size() == 4);  // FP32 flushes nothing and was not measured
  CHECK(panels(1)[2]["series"][0]["curve"] == 1);
  CHECK(panels(2)[0]["scale"] == "decades");
  CHECK(data["sections"][1]["steps"] == 400);

  const nlohmann::json nan = panels(1)[0]["series"][4];
  CHECK(nan["mean"].size() == 400);
  CHECK(nan["mean"][10].is_number());
  CHECK(nan["mean"][11].is_null());
  REQUIRE(nan["ends"].size() == 3);
  CHECK(nan["ends"][0]["step"] == 11);
  CHECK(nan["low"][5].get<double>() <= nan["mean"][5].get<double>());
  CHECK(nan["high"][5].get<double>() >= nan["mean"][5].get<double>());
  CHECK_FALSE(panels(2)[0]["series"][0].contains("low"));  // a single seed has no spread
}

TEST_CASE("a page says in words what it shows") {
  const std::string page = html_report("Report", all_sections());
  for (const char* words :
       {"<h2>Do small updates survive?</h2>", "83 % of the updates moved nothing",
        "FP16, S = 2^28: the loss is not a finite number from step 12 (3 of 3 seeds).",
        "76 %<small>17 % underflowed,\n59 % absorbed</small>",
        "aria-label=\"Training loss against the step. FP32: ", "0.0424 (0.0420..0.0428)",
        "<code>./learn quickstart --seeds 3</code>", "<code>44ca0ca1f20b</code>", "AMD EPYC 7B13",
        "400 steps of 2048 examples", "interrupted at step 30", "runs/quickstart-001/2.jsonl"}) {
    INFO(words);
    CHECK(page.find(words) != std::string::npos);
  }
  CHECK(count(page, "<section") == 3);
}

TEST_CASE("every panel is drawn with characters too, for where dygraphs is missing or no script runs") {
  const std::string page = html_report("Report", all_sections(), {.live = false});
  CHECK(count(page, "<pre class=\"still\" role=\"img\" aria-label=\"") == 7);
  CHECK(count(page, "<div class=\"live\" hidden>") == 7);
  const std::string chart = between(page, "<pre class=\"still\"", "</pre>");
  CHECK(chart.find("+---") != std::string::npos);
  CHECK(chart.find("\n  o FP32  ") != std::string::npos);
  CHECK(chart.find("Training loss, ") == std::string::npos);  // the title is the panel's
  CHECK(page.find("The charts are drawn with characters: dygraphs was not there") != std::string::npos);
  CHECK(page.find("Install libjs-dygraphs") != std::string::npos);
  CHECK(page.find("dygraphs, https") == std::string::npos);
  CHECK(page.find("shaded") == std::string::npos);
  CHECK(count(page, "<noscript>") == 0);
  if (!dygraphs_js().empty()) {
    const std::string live = html_report("Report", all_sections());
    CHECK(count(live, "<pre class=\"still\"") == 7);
    CHECK(count(live, "<noscript>") == 1);
    CHECK(live.find("Install libjs-dygraphs") == std::string::npos);
  }
  CHECK(count(page, ">nan") + count(page, "\"nan") + count(page, "nan,") + count(page, "nan ") == 0);
}

TEST_CASE(
    "the data of a training: a grid for all curves that share it, what is held by its changes, findings") {
  const nlohmann::json section =
      data_of(html_report("Report", std::vector<ReportSection>{sample::trained()}))["sections"][0];
  const auto series = [&](const std::string& quantity, std::size_t i) {
    for (const nlohmann::json& panel : section["panels"])
      if (panel["quantity"] == quantity) return panel["series"][i];
    return nlohmann::json();
  };
  CHECK(section["panels"].size() == 9);
  CHECK(series("loss", 0)["grid"] == series("grad_norm", 2)["grid"]);
  CHECK(section["grids"][series("loss", 0)["grid"].get<std::size_t>()].size() == 400);
  CHECK(section["grids"][series("validation_loss", 1)["grid"].get<std::size_t>()].size() == 20);
  CHECK(series("scale", 2)["mean"] == nlohmann::json{16777216, 16777216});  // the first step and the last
  CHECK(section["findings"].size() == 2);
  CHECK(section["findings"][0]["curve"] == 2);
  CHECK(section["findings"][0]["step"] == 150);
}

TEST_CASE("sixteen hostile names are text, of a page with and without live charts") {
  const std::vector<ReportSection> sections = {sample::sixteen_hostile()};
  for (const bool live : {true, false}) {
    const std::string page = html_report("Report", sections, {.live = live});
    for (const char* const part :
         {"<script>throw", "<img", "<svg onload", "<![CDATA", "<!-- -->", "<b>hostile"})
      CHECK(count(page, part) == 0);
    for (const std::string& name : sample::hostile_names())
      CHECK(count(page, ">" + escape_html(name) + "<") >= 3);
    CHECK(page.find("\xE2\x80\xAE") == std::string::npos);
    CHECK(data_of(page)["sections"][0]["names"].size() == 16);
  }
}

TEST_CASE("pages of many runs stay small: 20 of 2,000 steps below 2 MB, 100 of 10,000 below 5", "[repeats]") {
  for (const auto& [runs, steps, most] :
       {std::tuple{20, 2000, 2'000'000}, std::tuple{100, 10'000, 5'000'000}}) {
    ReportSection section{"Many", "", {}};
    for (int i = 0; i < runs; ++i) {
      const std::string name = tinymp::concat("technique ", i);
      Run run = sample::make_run({.name = name,
                                  .recipe = tinymp::recipes::fp16_dynamic,
                                  .start = 2,
                                  .end = 0.1,
                                  .decay = 0.001,
                                  .lost = 0.1,
                                  .flushed = 0.1},
                                 "Many", 0, steps);
      sample::measure_all(run, 2, 0.1);
      section.runs.push_back(std::move(run));
    }
    const std::vector<ReportSection> sections = {std::move(section)};
    const std::string page = html_report("Many", sections);
    INFO(runs << " runs: " << page.size());
    CHECK(page.size() < static_cast<std::size_t>(most));
    CHECK((page.find("Thinned, so that the page stays small") != std::string::npos) == (runs == 100));
  }
}

TEST_CASE("what the page draws has a gap where a loss is not a number") {
  ReportSection gap = sample::small_gradients();
  for (Run& run : gap.runs) run.steps[200].loss = std::nan("");
  const nlohmann::json series = data_of(
      html_report("Report", std::vector<ReportSection>{gap}))["sections"][0]["panels"][0]["series"][0];
  CHECK(series["mean"][199].is_number());
  for (const char* const values : {"mean", "low", "high"}) CHECK(series[values][200].is_null());
  CHECK(series["mean"][201].is_number());
}

TEST_CASE("the numbers of a page keep six digits, whole ones without a point, names any bytes") {
  ReportSection section = sample::small_updates();
  section.runs.resize(1);
  section.runs[0].header.name = "\xff\"\n";
  section.runs[0].steps[0].loss = 1.0 / 3;
  section.runs[0].steps[1].loss = 2;
  const std::string page = html_report("Report", std::vector<ReportSection>{section});
  const std::string data = between(page, "id=\"tinymp-data\">", "</script>");
  CHECK(data.find("\"mean\":[0.333333,2,") != std::string::npos);
  CHECK(data_of(page)["sections"][0]["names"][0] == "\xEF\xBF\xBD\"\n");
}

TEST_CASE("sixteen curves and more can be told apart without colour") {
  std::set<std::string> lines;
  for (std::size_t i = 0; i < curve_styles; ++i) {
    const CurveStyle style = curve_style(i);
    lines.insert(tinymp::concat(style.dash, "|", style.marker, "|", style.hollow));
  }
  CHECK(curve_styles >= 16);
  CHECK(lines.size() == curve_styles);
  CHECK(std::string(curve_style(7).dash) == curve_style(0).dash);
  CHECK(std::string(curve_style(7).marker) == curve_style(1).marker);
  for (const bool unicode : {false, true}) {
    std::set<std::string> markers;
    for (std::size_t i = 0; i < 16; ++i) {
      markers.insert(marker(i, {.unicode = unicode}));
      CHECK(display_width(marker(i, {.unicode = unicode})) == 1);
    }
    CHECK(markers.size() == 16);
  }
}

TEST_CASE("a page without runs, and one with a verdict alone") {
  CHECK(html_report("Empty", {}).find("0 runs") != std::string::npos);
  const std::vector<ReportSection> sections = {{"Why?", "Because.", {}}};
  CHECK(html_report("Why", sections).find("Because.") != std::string::npos);
}

TEST_CASE("a report is written whole or not at all") {
  const files::Folder folder;
  const std::vector<ReportSection> sections = all_sections();
  write_report(folder / "report.html", "First", sections);
  CHECK(text_of(folder / "report.html") == html_report("First", sections));
  write_report(folder / "report.html", "Second", sections);
  CHECK(text_of(folder / "report.html") == html_report("Second", sections));
  CHECK(std::distance(std::filesystem::directory_iterator(folder.path), {}) == 1);
  CHECK(files::message<Error>([&] {
          write_report(folder / "no/report.html", "x", sections);
        }).find("make its folder first") != std::string::npos);
  std::filesystem::create_directory(folder / "taken");
  CHECK(files::message<Error>([&] {
          write_report(folder / "taken", "x", sections);
        }).find(folder / "taken") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(folder / "taken.part"));
}

TEST_CASE("a full or read-only disk keeps the old report") {
  SmallDisk disk(64);
  if (!disk.mounted) SKIP_TEST("mounting a small tmpfs needs Linux and root");
  const std::vector<ReportSection> sections = all_sections();
  {
    std::ofstream old(disk / "report.html");
    old << "old";
  }
  const std::string full =
      files::message<Error>([&] { write_report(disk / "report.html", "New", sections); });
  CHECK(full.find("No space left on device") != std::string::npos);
  CHECK(full.find(disk / "report.html") != std::string::npos);
  CHECK(full.find("--out DIR") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(disk / "report.html.part"));
  CHECK(text_of(disk / "report.html") == "old");
  disk.make_read_only();
  const std::string refused =
      files::message<Error>([&] { write_report(disk / "report.html", "New", sections); });
  CHECK(refused.find("Read-only file system") != std::string::npos);
  CHECK(text_of(disk / "report.html") == "old");
}
