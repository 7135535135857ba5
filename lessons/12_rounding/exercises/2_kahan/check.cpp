// Exercise 12.2: Kahan's update. The oracle rounds in double, by division.

#include <lessons/12_rounding/exercises/2_kahan/setting.h>
#include <lessons/12_rounding/neighbours.h>
#include <lessons/lab/classroom/judge.h>
#include <algorithm>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

/// The lines of the algorithm, each as it should be or as somebody writes it.
struct Lines {
  bool takes_kept = true, rounds_due = true, rounds_next = true, rounds_part = true, keeps_rest = true,
       right_sign = true, whole_due = false;
};

KahanAnswer answered(const KahanQuestion& q, const Lines& lines = {}) {
  const Format& format = formats[q.format];
  const auto w = static_cast<double>(q.w), kept = static_cast<double>(q.kept),
             update = static_cast<double>(q.update);
  const auto rounded = [&](bool asked, double x) { return asked ? nearest(format, x) : x; };
  const double due = rounded(lines.rounds_due, difference(lines.takes_kept ? kept : 0, update));
  const double next = rounded(lines.rounds_next, difference(w, -due));
  double part = rounded(lines.rounds_part, difference(w, next));
  if (!lines.right_sign) part = -part;
  double rest = nearest(format, difference(due, -part));
  if (lines.whole_due) rest = due;
  if (!lines.keeps_rest) rest = 0;
  return {static_cast<float>(next), static_cast<float>(rest), 0, update != 0 && next == w && rest == kept};
}

bool same_numbers(const KahanAnswer& a, const KahanAnswer& b) { return a.next == b.next && a.rest == b.rest; }

/// What people write.
struct Misconception {
  Lines lines;
  const char* says;
};
constexpr Misconception misconceptions[] = {
    {{.takes_kept = false, .keeps_rest = false},
     "Your code forgets the compensation: what the rounding lost is gone."},
    {{.takes_kept = false, .rounds_due = false, .keeps_rest = false},
     "Your code forgets the compensation: what the rounding lost is gone."},
    {{.takes_kept = false},
     "Your code never pays the compensation out: due is the old compensation minus the update."},
    {{.right_sign = false},
     "Your code has the wrong sign: w - next is minus what the weight took, and is added to the due."},
    {{.whole_due = true}, "Your code keeps the whole due: the part that the weight took is paid twice."},
    {{.keeps_rest = false}, "Your code keeps no rest: the new compensation is 0."},
    {{.rounds_due = false}, "Your code drops the rounding of the due; the compensation has 16 bits."},
    {{.rounds_part = false}, "Your code drops the rounding of w - next; each line rounds to 16 bits."},
    {{.rounds_next = false},
     "Your code drops the rounding of the next weight; each line rounds to 16 bits."}};

/// The misconception that gives the same in case `which`, and most often in all cases.
std::string why(const std::vector<KahanQuestion>& all, const std::vector<KahanAnswer>& yours,
                std::size_t which) {
  if (same_numbers(answered(all[which]), yours[which]))
    return yours[which].underflowed != 0
               ? "Your code counts an underflow: the update is not rounded by itself here."
               : "Your code counts absorption wrongly: an update that the compensation took is not absorbed.";
  std::string best = "Your code gives another weight or compensation than the three lines.";
  std::int64_t most = 0;
  for (const Misconception& one : misconceptions) {
    if (!same_numbers(answered(all[which], one.lines), yours[which])) continue;
    std::int64_t agree = 0;
    for (std::size_t i = 0; i < all.size(); ++i)
      agree += same_numbers(answered(all[i], one.lines), yours[i]) ? 1 : 0;
    if (agree > most) best = one.says;
    most = std::max(most, agree);
  }
  return best;
}

std::vector<KahanQuestion> questions(Judge& judge) {
  std::vector<KahanQuestion> all;
  for (const std::int32_t format : {0, 1}) {
    for (const float update : {0x1p-4f, 0x1p-12f, 0x1p-11f, -0x1p-11f, 0.0f, 0x1p-30f}) {
      for (const float kept : {0.0f, 0x1p-11f, -0x1p-11f, 0x1p-8f})
        for (const float w : {1.0f, -1.0f, 0.0f, 0x1p-14f}) all.push_back({format, w, kept, update});
    }
  }
  const auto drawn = [&](int smallest, int largest) {
    const auto power = static_cast<int>(smallest + judge.draw_below(largest - smallest));
    return std::ldexp(static_cast<double>(static_cast<std::int32_t>(judge.draw() >> 32)) * 0x1p-31, power);
  };
  for (int i = 0; i < 40'000; ++i) {
    const Format& format = formats[i % 2];
    const double w = nearest(format, drawn(-20, 3)), kept = nearest(format, drawn(-24, -4));
    all.push_back(
        {i % 2, static_cast<float>(w), static_cast<float>(kept), static_cast<float>(drawn(-30, 1))});
  }
  return all;
}

}  // namespace

void check(Judge& judge) {
  const std::vector<KahanQuestion> all = questions(judge);
  const std::vector<KahanAnswer> yours = judge.ask_each<KahanAnswer>(all);
  const auto text = [](const KahanAnswer& a) {
    return "next " + decimal(a.next) + ", compensation " + decimal(a.rest) +
           (a.underflowed != 0 ? ", underflowed" : "") + (a.absorbed != 0 ? ", absorbed" : "");
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const KahanQuestion& q = all[i];
    const KahanAnswer right = answered(q);
    const bool same = same_numbers(right, yours[i]) && right.underflowed == yours[i].underflowed &&
                      right.absorbed == yours[i].absorbed;
    judge.expect(same, [&] {
      return why(all, yours, i) + "\n  " + formats[q.format].name + ", weight " + decimal(q.w) +
             ", compensation " + decimal(q.kept) + ", update " + decimal(q.update) +
             "\n  expected = " + text(right) + "\n  yours    = " + text(yours[i]);
    });
  }
}

}  // namespace tinymp::exercise
