#include <lessons/lab/report/axis.h>
#include <lessons/lab/report/mean.h>
#include <lessons/lab/report/terminal_curves.h>
#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <bit>
#include <cmath>
#include <limits>
#include <set>

using namespace tinymp::report;

namespace {

using Limits = std::numeric_limits<double>;

constexpr Scale every_scale[] = {Scale::linear, Scale::decades, Scale::powers_of_two, Scale::share};

/// Limits of double, their neighbours, and numbers of every size between them.
std::vector<double> edges() {
  std::vector<double> all = {0, 5e-324, 1e-323, 1e-320, 1e-308, 1e-307, 1e-300, 1e-290, 1e-45, 1, 2, 3, 10};
  for (const double x :
       {Limits::min(), Limits::max(), 65504.0, 3.4e38, 1e38, 1e290, 1e300, 1e307, 1e308, 0.3})
    for (const double y : {x, std::nextafter(x, 0), std::nextafter(x, Limits::max())}) all.push_back(y);
  for (std::size_t i = all.size(); i-- > 0;) all.push_back(-all[i]);
  return all;
}

double random_finite(tinymp::Rng& rng) {
  for (;;) {
    const std::uint64_t bits = rng.next_u64();
    const auto value = std::bit_cast<double>(bits);
    if (std::isfinite(value)) return value;
  }
}

/// What is wrong with an axis; empty: nothing.
std::string fault_of(Scale scale, double low, double high, int wanted) {
  const Axis axis(scale, low, high, wanted);
  const bool is_log = scale == Scale::decades || scale == Scale::powers_of_two;
  if (axis.ticks().size() < 2) return "fewer than two ticks";
  if (axis.ticks().size() > static_cast<std::size_t>(2 * wanted + 4)) return "too many ticks";
  std::set<std::string> labels;
  double before = -Limits::infinity(), place = -1;
  for (const Tick& tick : axis.ticks()) {
    const double position = axis.position(tick.value);
    if (!std::isfinite(tick.value) || !(tick.value > before)) return "ticks do not go up: " + tick.label;
    if (!(position >= 0 && position <= 1 && position > place)) return "a tick outside: " + tick.label;
    if (tick.label.empty() || tick.label.size() > 40) return "label '" + tick.label + "'";
    labels.insert(tick.label);
    before = tick.value;
    place = position;
  }
  if (labels.size() != axis.ticks().size()) return "equal labels: " + *labels.begin();
  const double at_low = axis.position(low), at_high = axis.position(high);
  if (is_log && (low <= 0 || high <= 0))
    return std::isnan(low <= 0 ? at_low : at_high) ? "" : "a place for <= 0";
  if (low > high) return "";
  if (!(at_low >= 0 && at_low <= at_high && at_high <= 1)) return "the values have no place";
  return "";
}

/// Both values as losses of two steps.
Panel panel_of(Scale scale, double first, double second) {
  Panel panel{.quantity = Quantity::loss, .title = "loss", .scale = scale};
  Curve curve{.name = "a", .step = {1, 2}, .mean = {first, second}, .low = {first, second}};
  curve.high = curve.low;
  curve.ends = {{2, second, 3}};
  curve.seeds = 2;
  panel.curves.push_back(curve);
  panel.group = {0};
  return panel;
}

/// Drawn whole: the terminal has no row too few.
std::string fault_of_charts(Scale scale, double low, double high) {
  const Panel panel = panel_of(scale, low, high);
  const std::string text = terminal_chart(panel, {.width = 40}, {.height = 6});
  return std::count(text.begin(), text.end(), '\n') < 9 ? "too few rows: " + text : "";
}

void check_pair(double a, double b) {
  const double low = std::min(a, b), high = std::max(a, b);
  for (const Scale scale : every_scale) {
    std::string fault;
    for (const int wanted : {2, 3, 5, 6, 13})
      if (fault.empty()) fault = fault_of(scale, low, high, wanted);
    if (fault.empty()) fault = fault_of_charts(scale, a, b);
    if (fault.empty()) continue;
    CAPTURE(static_cast<int>(scale), low, high, fault);
    FAIL_CHECK();
  }
}

}  // namespace

TEST_CASE("an axis of any two finite numbers: ticks inside, in order, each with a label of its own",
          "[repeats]") {
  const std::vector<double> all = edges();
  for (const double low : all)
    for (const double high : all) check_pair(low, high);
}

TEST_CASE("the same for bit patterns at random, and for neighbours", "[repeats]") {
  tinymp::Rng rng(1);
  for (int i = 0; i < 500; ++i) {
    const double a = random_finite(rng), b = random_finite(rng);
    check_pair(a, b);
    check_pair(a, std::nextafter(a, b));
    check_pair(a, a * 1.0000001);
    check_pair(a, a);
  }
}

TEST_CASE("a loss of 1e38 and then of 5e-324 is drawn") {
  const std::string text =
      terminal_chart(panel_of(Scale::decades, 1e38, 5e-324), {.width = 60}, {.height = 12});
  CHECK_THAT(text, Catch::Matchers::Contains("1e-323"));
  CHECK(Axis(Scale::decades, 5e-324, 1e38, 6).position(1e38) > 0.5);
}

TEST_CASE("a mean is finite where the values are") {
  const double most = Limits::max();
  Mean mean;
  CHECK(std::isnan(mean.value()));
  for (int i = 0; i < 3; ++i) mean.add(most);
  CHECK(mean.value() == most);
  mean.add(-most);
  CHECK(mean.value() == Approx(most / 2));
  Mean tiny;
  tiny.add(5e-324);
  tiny.add(5e-324);
  CHECK(tiny.value() == 5e-324);
  mean.add(Limits::infinity());
  CHECK(mean.value() == Limits::infinity());
}
