#include <fmt/format.h>
#include <lessons/03_accumulation/verdicts.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

/// How far apart two results are on the worst seed; NaN if one of them is.
double apart(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> points = differences(a, b);
  return std::max(largest(points), -smallest(points));
}

double apart(const Lab& lab, const std::string& question, const Curve& a, const Curve& b) {
  return apart(lab.results(question, a.name), lab.results(question, b.name));
}

bool ends_in_nan(const Lab& lab, const std::string& question, const Curve& curve) {
  return std::ranges::all_of(lab.results(question, curve.name),
                             [](double value) { return std::isnan(value); });
}

}  // namespace

void give_verdict(Lab& lab, const std::string& question, const Curve& wide, const Curve& narrow) {
  const double points = apart(lab, question, wide, narrow), same = lab.is_cut() ? 4 : 1;
  lab.verdict(question, ends_in_nan(lab, question, narrow) ? "No: the loss becomes NaN."
                        : std::isnan(points)               ? "No: on some seeds the loss becomes NaN."
                        : points <= same
                            ? fmt::format("Here, yes: within {:.2f} points of FP32 sums.", points)
                            : fmt::format("It ends up to {:.1f} points from FP32 sums.", points));
}

void claim_arithmetic(Lab& lab, const DotErrors& dots) {
  const auto claim = [&](bool holds, const std::string& sentence) {
    lab.claim(holds, sentence, Lab::Judged::in_smoke_too);
  };
  claim(
      smallest(dots.f16) >= 0.4,
      fmt::format("U(0,1), K = 16384: FP16 is off by {:.1f} % or more (40 asked)", 100 * smallest(dots.f16)));
  claim(largest(dots.f32) <= 1e-5,
        fmt::format("... FP32 by at most {:.2g} (1e-5 allowed)", largest(dots.f32)));
  claim(
      largest(dots.chunks) <= 0.005,
      fmt::format("... FP16 in chunks of 64 by at most {:.2g} % (0.5 allowed)", 100 * largest(dots.chunks)));
}

void claim_mean(Lab& lab, double error) {
  lab.claim(error <= 1e-3,
            fmt::format(
                "FP32 sums: no mean of the first batch is off by more than {:.2g} deviations (0.001 allowed)",
                error),
            Lab::Judged::in_smoke_too);
}

void claim_nan(Lab& lab, const char* what, const std::string& question, const Curve& curve) {
  lab.claim(ends_in_nan(lab, question, curve), concat(what, " end in NaN on every seed"));
}

void claim_same(Lab& lab, const char* what, const std::string& question, const Curve& a, const Curve& b,
                double allowed) {
  const double points = apart(lab, question, a, b);
  lab.claim(points <= allowed,
            fmt::format("{} within {} points ({} allowed)", what, fixed(points, 2), allowed));
}

void show_answers(Lab& lab, const char* model, const Answers& answers) {
  lab.say(fmt::format("{:<24} {:>24} {:>24} {:>20}", model, spread(answers.f32, 2), spread(answers.f16, 2),
                      spread(answers.changed, 2)));
  lab.number(concat(model, ": accuracy with FP32 accumulators"), mean(answers.f32));
  lab.number(concat(model, ": accuracy with FP16 accumulators"), mean(answers.f16));
  lab.number(concat(model, ": answers changed (%)"), mean(answers.changed));
}

void claim_answers(Lab& lab, const char* model, const Answers& answers) {
  const double points = apart(answers.f32, answers.f16), allowed = 0.2;
  lab.claim(points <= allowed, fmt::format("{}, asked with FP16 accumulators: within {} points ({} allowed)",
                                           model, fixed(points, 2), allowed));
}

}  // namespace tinymp::lab
