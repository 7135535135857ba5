#include <lessons/lab/report/html.h>
#include <lessons/lab/report/sentences.h>
#include <lessons/lab/report/terminal_curves.h>
#include <tests/catch.h>
#include <tests/report/curve_of.h>
#include <tests/report/sample_runs.h>
#include <cmath>

// Of two curves that coincide one is seen, and words name the other.
using namespace tinymp::report;
namespace train = tinymp::train;

namespace {

using Points = std::vector<Drawn>;
using Covered = std::vector<std::optional<std::size_t>>;

Panel losses(std::vector<Curve> curves) {
  Panel panel{.quantity = Quantity::loss, .title = "Training loss", .curves = std::move(curves)};
  for (std::size_t i = 0; i < panel.curves.size(); ++i) panel.group.push_back(i);
  return panel;
}

double falling(int step) { return 2 - 0.09 * step; }

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string chart(const Panel& panel, bool unicode) {
  return terminal_chart(panel, {.unicode = unicode, .colour = false, .width = 80}, {.height = 12});
}

}  // namespace

TEST_CASE("covered: a curve on which a later one lies all along, and none that shows anywhere") {
  const Points a{{0, 1}, {1, 2}, {2, 3}}, near{{0, 1.5}, {1, 1.5}, {2, 3}}, apart{{0, 1}, {1, 2}, {2, 4.1}},
      shorter{{0, 1}, {1, 2}}, elsewhere{{0, 1}, {1.5, 2}, {2, 3}}, point{{1, 2}};
  CHECK(covered_by(std::vector{a, near}, 0.5) == Covered{1, {}});
  CHECK(covered_by(std::vector{a, near}, 0.4) == Covered{{}, {}});
  CHECK(covered_by(std::vector{a, apart}, 1) == Covered{{}, {}});
  CHECK(covered_by(std::vector{a, shorter}, 1) == Covered{{}, {}});  // its end shows
  CHECK(covered_by(std::vector{shorter, a}, 1) == Covered{1, {}});
  CHECK(covered_by(std::vector{a, elsewhere}, 1) == Covered{{}, {}});
  CHECK(covered_by(std::vector{point, a}, 1) == Covered{{}, {}});  // a marker
  CHECK(covered_by(std::vector{Points{}, a}, 1) == Covered{{}, {}});
  CHECK(covered_by(std::vector{a, apart, a, a}, 0) == Covered{2, {}, 3, {}});
}

TEST_CASE("covered: the legend names the curve on top, in Braille and in ASCII") {
  const Curve fp32 = curve_of("FP32", falling);
  const Panel same = losses({fp32, curve_of("FP16, S = 1", [](int step) { return 0.2 + step / 20.0; }),
                             curve_of("with a master", [](int step) { return falling(step) + 1e-3; })});
  for (const bool unicode : {true, false}) {
    CHECK(holds(chart(same, unicode), " FP32  0.2  (covered by with a master)\n"));
    CHECK(holds(chart(same, unicode), " FP16, S = 1  1.2\n"));
    CHECK(holds(chart(same, unicode), " with a master  0.201\n"));
    const Panel leaves =
        losses({fp32, curve_of("late", [](int step) { return step < 19 ? falling(step) : 1; })});
    CHECK_FALSE(holds(chart(leaves, unicode), "covered"));
    const Panel stops =
        losses({fp32, curve_of("stops", [](int step) { return step < 19 ? falling(step) : std::nan(""); })});
    CHECK_FALSE(holds(chart(stops, unicode), "covered"));
  }
}

TEST_CASE("covered: the page says it in a sentence, and names stay names") {
  CHECK(covered_words(losses({curve_of("FP32", falling), curve_of("O1", falling)})) ==
        std::vector<std::string>{"O1 covers FP32: they coincide"});
  CHECK(covered_words(losses({curve_of("FP32", falling),
                              curve_of("O1", [](int step) { return falling(step) + 0.02; })}))
            .empty());
  ReportSection twice = sample::small_gradients();
  twice.runs.resize(1);
  twice.runs[0].header.name = "<b>";
  twice.runs.push_back(twice.runs[0]);
  twice.runs[1].header.name = "a & b";
  const std::string page = html_report("Report", std::vector<ReportSection>{twice}, {.live = false});
  CHECK(holds(page, "<p>a &amp; b covers &lt;b&gt;: they coincide.</p>"));
  for (train::LogRecord& record : twice.runs[1].steps) record.loss *= 1.1;
  CHECK_FALSE(holds(html_report("Report", std::vector<ReportSection>{twice}), "a &amp; b covers"));
}
