#include <lessons/lab/report/thin.h>
#include <tests/catch.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

using namespace tinymp::report;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Curve line(int points, int stride = 1, std::size_t seeds = 1) {
  Curve curve{.name = "a", .seeds = seeds};
  for (int i = 0; i < points; ++i) {
    curve.step.push_back(1 + i * stride);
    for (std::vector<double>* values : {&curve.mean, &curve.low, &curve.high}) values->push_back(1);
  }
  return curve;
}

Panel panel_of(std::size_t curves, int points, std::size_t seeds = 1) {
  Panel panel{.quantity = Quantity::loss, .title = ""};
  for (std::size_t i = 0; i < curves; ++i) panel.curves.push_back(line(points, 1, seeds));
  return panel;
}

std::size_t numbers_in(const std::vector<Panel>& panels) {
  std::size_t count = 0;
  for (const Panel& panel : panels)
    for (const Curve& curve : panel.curves) count += curve.step.size() * (curve.seeds > 1 ? 3 : 1);
  return count;
}

}  // namespace

TEST_CASE("thinning keeps ends, extremes and gaps") {
  Panel panel = panel_of(1, 1000);
  Curve& curve = panel.curves[0];
  curve.ends.push_back({900, 1, 901});
  curve.mean[500] = curve.low[500] = curve.high[500] = 9;
  for (std::size_t i = 900; i < 1000; ++i) curve.mean[i] = curve.low[i] = curve.high[i] = not_a_number;
  const Curve thinned = thin(curve, Quantity::loss, windows_of(panel, 100));
  CHECK(thinned.step.size() == 100);
  CHECK(thinned.step[0] == 5.5);  // the middle of 1 .. 10
  CHECK(thinned.mean[50] == Approx(1.8));
  CHECK(thinned.high[50] == 9);
  CHECK(thinned.low[50] == 1);
  CHECK(std::isnan(thinned.mean[95]));
  CHECK(std::isnan(thinned.low[95]));
  CHECK(std::isnan(thinned.high[95]));
  CHECK(thinned.ends.size() == 1);
  CHECK(thin(curve, Quantity::loss, windows_of(panel, 1000)).step == curve.step);
}

TEST_CASE("curves with other steps are thinned to the same ones, within the run") {
  Panel panel = panel_of(1, 1000);
  panel.curves.push_back(line(330, 3));
  panel.curves.push_back(line(143, 7));
  const Windows windows = windows_of(panel, 60);
  std::set<double> steps;
  for (const Curve& curve : panel.curves)
    for (const double step : thin(curve, Quantity::loss, windows).step) steps.insert(step);
  CHECK(steps.size() <= 60);
  CHECK(*steps.begin() >= 1);
  CHECK(*steps.rbegin() <= 1000);
}

TEST_CASE("where a held value does not change it is left out, and nothing is lost") {
  Curve curve = line(100);
  for (std::size_t i = 40; i < 100; ++i) curve.mean[i] = curve.low[i] = curve.high[i] = 2;
  curve.high[70] = 3;
  curve.mean[80] = not_a_number;
  const Curve kept = without_repeats(curve);
  CHECK(kept.step == std::vector<double>{1, 41, 71, 72, 81, 82, 100});
  for (std::size_t i = 0; i < curve.step.size(); ++i) {
    const auto after = std::ranges::upper_bound(kept.step, curve.step[i]);
    const auto at = static_cast<std::size_t>(after - kept.step.begin()) - 1;
    CHECK((kept.mean[at] == curve.mean[i] || std::isnan(curve.mean[i])));
    CHECK(kept.high[at] == curve.high[i]);
  }
}

TEST_CASE("a page of few runs is not thinned, one of many is, and says by how much") {
  std::vector<Panel> few = {panel_of(3, 2000), panel_of(3, 2000)};
  CHECK(thin_for_page(few, numbers_of_a_page(3)) == 1);
  CHECK(numbers_in(few) == 12'000);

  for (const std::size_t seeds : {1u, 3u}) {
    std::vector<Panel> many = {panel_of(100, 10'000, seeds), panel_of(100, 10'000, seeds),
                               panel_of(100, 40, seeds)};
    const std::size_t most = numbers_of_a_page(100);
    const std::size_t width = thin_for_page(many, most);
    CHECK(width > 1);
    CHECK(numbers_in(many) <= most);
    CHECK(numbers_in(many) > most / 2);
    CHECK(many[2].curves[0].step.size() == 40);  // short ones stay whole
    CHECK(many[0].curves[0].step.size() == (10'000 + width - 1) / width);
  }
}

TEST_CASE("no panel has more points than a browser lays out quickly") {
  std::vector<Panel> one = {panel_of(1, 100'000)};
  CHECK(thin_for_page(one, 1'000'000'000) == 25);
  CHECK(one[0].curves[0].step.size() == 4000);
  std::vector<Panel> scattered = {Panel{.quantity = Quantity::scale, .title = ""}};
  for (int i = 0; i < 100; ++i) {  // a hundred scales that change at other steps
    Curve curve = line(100, 100);
    for (double& step : curve.step) step += i;
    scattered[0].curves.push_back(curve);
  }
  thin_for_page(scattered, 1'000'000'000);
  std::set<double> rows;
  for (const Curve& curve : scattered[0].curves) rows.insert(curve.step.begin(), curve.step.end());
  CHECK(rows.size() * 100 <= 200'000);
}
