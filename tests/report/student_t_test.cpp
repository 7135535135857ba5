#include <lessons/lab/report/student_t.h>
#include <tests/catch.h>
#include <tinymp/base/error.h>
#include <cmath>
#include <utility>

using namespace tinymp;
using namespace tinymp::report;

// R: print(qt(0.975, c(1:10, 20, 30, 100, 1000)), digits = 12)
TEST_CASE("95 % of Student's t lie within the published quantiles") {
  for (const auto& [degrees, t] : {std::pair<int, double>{1, 12.7062047362},
                                   {2, 4.30265272975},
                                   {3, 3.18244630528},
                                   {4, 2.7764451052},
                                   {5, 2.57058183564},
                                   {6, 2.44691185114},
                                   {7, 2.36462425159},
                                   {8, 2.30600413520},
                                   {9, 2.26215716280},
                                   {10, 2.22813885199},
                                   {20, 2.08596344727},
                                   {30, 2.04227245630},
                                   {100, 1.98397151845},
                                   {1000, 1.96233908083}}) {
    INFO(degrees << " degrees of freedom");
    CHECK(std::abs(t_within_95(degrees) - t) < 2e-9 * t);
  }
  CHECK(std::abs(t_within_95(1'000'000'000) - 1.959963985) < 3e-5);  // the normal distribution
  REQUIRE_THROWS_AS(t_within_95(0), Error);
}

// With x = sqrt(degrees) tan a, Student's density is proportional to cos^(degrees - 1) a: no tail is cut off.
TEST_CASE("the quantile holds 95 % of the density, summed in slices") {
  const auto area = [](double to, int power) {
    constexpr int slices = 20000;
    double sum = 0;
    for (int i = 0; i < slices; ++i) sum += std::pow(std::cos((i + 0.5) * to / slices), power);
    return sum * to / slices;
  };
  for (const int degrees : {1, 2, 3, 4, 5, 8, 13, 29, 40, 77, 128}) {
    const double t = t_within_95(degrees);
    const double part =
        area(std::atan(t / std::sqrt(degrees)), degrees - 1) / area(std::acos(0.0), degrees - 1);
    INFO(degrees << " degrees of freedom, t = " << t);
    CHECK(std::abs(part - 0.95) < 1e-8);
  }
}
