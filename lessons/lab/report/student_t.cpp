#include <lessons/lab/report/student_t.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>

// The area between -t and t for a whole number of degrees: Abramowitz and Stegun, "Handbook of Mathematical Functions",
// 26.7.3 and 26.7.4. It takes no gamma function.
namespace tinymp::report {
namespace {

constexpr double pi = 0x1.921fb54442d18p+1;

/// More degrees than this move the result by less than 3e-5, and a run has no more seeds.
constexpr std::int64_t most_degrees = 100'000;

/// The angle whose sine and cosine these are, from 0 to pi / 2. Four halvings, then the series of the arctangent.
double angle_of(double sine, double cosine) {
  double tangent = sine / (1 + cosine);  // of half the angle
  for (int i = 0; i < 3; ++i) tangent = tangent / (1 + std::sqrt(1 + tangent * tangent));
  const double square = tangent * tangent;
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = (k % 4 == 1 ? 1.0 : -1.0) / k + square * sum;
  return 16 * tangent * sum;
}

double area_within(double t, std::int64_t degrees) {
  const double n = static_cast<double>(degrees);
  const double cosine = std::sqrt(n / (n + t * t)), sine = t / std::sqrt(n + t * t), square = cosine * cosine;
  const bool is_odd = degrees % 2 == 1;
  double term = is_odd ? cosine : 1, sum = degrees == 1 ? 0 : term;
  for (std::int64_t k = is_odd ? 3 : 2; k < degrees; k += 2) {
    term *= square * static_cast<double>(k - 1) / static_cast<double>(k);
    sum += term;
  }
  return is_odd ? (angle_of(sine, cosine) + sine * sum) * (2 / pi) : sine * sum;
}

}  // namespace

double t_within_95(std::int64_t degrees) {
  expect(degrees >= 1, "Student's t takes 1 degree of freedom or more, not ", degrees);
  const std::int64_t n = std::min(degrees, most_degrees);
  double low = 1.9, high = 12.8;
  while (true) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) return middle;
    (area_within(middle, n) < 0.95 ? low : high) = middle;
  }
}

}  // namespace tinymp::report
