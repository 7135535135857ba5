// Exercise 14.1: accumulation. How FP16 rounds a single gradient is known from the case.

#include <lessons/14_memory/exercises/1_accumulate/oracle.h>
#include <lessons/lab/classroom/judge.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

std::string shown(double v) { return decimal(static_cast<float>(v)); }

std::string shown(const Trial& t) {
  std::string text = std::string("\n  ") + (t.half ? "FP16" : "FP32") + ", S = " + decimal(t.scale) + ":";
  for (std::size_t i = 0; i < t.batches.size(); ++i) {
    if (i == 9) return text + "; ... (" + std::to_string(t.batches.size()) + " micro-batches)";
    const MicroBatch& b = t.batches[i];
    text += (i > 0 ? "; " : " ") + std::to_string(b.size) + (b.size == 1 ? " sample" : " samples") +
            ", mean gradient " + decimal(b.gradient) + ", loss " + decimal(b.loss);
  }
  return text;
}

std::string lines(const Trial& t, const std::string& expected, const std::string& yours) {
  return shown(t) + "\n  expected = " + expected + "\n  yours    = " + yours;
}

/// What a sum in FP32 may be off, relative to its largest part.
double rounding(const Trial& t) { return 2e-6 + 1e-7 * static_cast<double>(t.batches.size()); }

bool near(double a, double b, double off) { return a == b || std::fabs(a - b) <= off; }

// ---- Each micro-batch runs once, in order.

std::string numbers(const std::vector<Call>& calls) {
  std::string text;
  for (const Call& call : calls) text += (text.empty() ? "" : ", ") + std::to_string(call.i);
  return text.empty() ? "none" : text;
}

void expect_calls(Judge& judge, const Trial& t, const std::vector<Call>& calls) {
  std::vector<Call> right;
  for (std::size_t i = 0; i < t.batches.size(); ++i) right.push_back({static_cast<std::int64_t>(i), 0});
  judge.expect(std::ranges::equal(calls, right, {}, &Call::i, &Call::i), [&] {
    return (calls.size() < right.size()
                ? "Your code leaves a micro-batch out: none is skipped, not even one whose loss is infinite. "
                  "The check of the sum decides about the step."
                : "Your code does not run the micro-batches in order, each once.") +
           lines(t, numbers(right), numbers(calls));
  });
}

// ---- The gradient.

/// Whether the seeds are S times a quotient of integers, and some remainder is lost.
bool divides_seeds_as_integers(const Trial& t, const std::vector<Call>& calls) {
  const std::int64_t usual = t.batches[0].size;
  const auto has_rest = [&](const MicroBatch& b) { return b.size % usual != 0; };
  return std::ranges::any_of(t.batches, has_rest) &&
         std::ranges::equal(calls, t.batches, [&](const Call& call, const MicroBatch& b) {
           return call.seed == static_cast<float>(b.size / usual) * t.scale;
         });
}

std::string why_gradient(const Trial& t, const Sums& right, const Answer& yours,
                         const std::vector<Call>& calls, double off) {
  const auto is = [&](double v) { return near(static_cast<double>(yours.gradient), v, off); };
  const auto count = static_cast<double>(t.batches.size());
  const bool one_seed = std::ranges::all_of(calls, [&](const Call& c) { return c.seed == calls[0].seed; });
  const double usual = static_cast<double>(t.batches[0].size);
  if (one_seed && !right.equal && is(right.mean_of_means))
    return "Your code takes the mean of the means: a sample of a smaller micro-batch counts more than one of "
           "a larger one.";
  if (divides_seeds_as_integers(t, calls))
    return "Your code divides sizes[i] by another size as whole numbers, which drops the remainder. "
           "Divide in double.";
  if (const double whole = std::floor(right.samples / usual);
      whole * usual != right.samples && yours.micro_batches == whole)
    return "Your code divides the number of samples as whole numbers, which drops the remainder: "
           "micro_batches is a double. Divide in double.";
  if (is(right.gradient * right.samples / usual / count))
    return "Your code gives the number of micro-batches, although they are not equally large: give it in "
           "micro-batches as large as the one whose seed is S.";
  if (is(right.gradient / usual))
    return "Your code gives the number of samples: the mean over a micro-batch has been taken already.";
  if (is(right.gradient * right.samples / usual))
    return "Your code gives 1 as micro_batches: the sum is not divided at all.";
  return "Your true gradient is not the mean over all samples.";
}

std::string why_seed(const Trial& t, const Sums& right, const Call& call, double size) {
  const auto seed = static_cast<double>(call.seed), s = static_cast<double>(t.scale);
  if (call.seed == 1 && t.scale != 1)
    return "Your code begins backward without S, and unscale() divides by S.";
  if (near(seed, s * size / right.samples, 1e-6 * seed))
    return "Your code divides before the sum: in FP16 small gradients become 0 there. Divide the sum, by "
           "micro_batches.";
  if (near(seed, s * size, 1e-6 * seed))
    return "Your code multiplies each mean by its number of samples before the sum: in FP16 large gradients "
           "overflow earlier than one of them would.";
  if (right.equal)
    return "Your code begins backward with another seed than S, though all micro-batches are equally large.";
  return "Your code begins backward with another seed than sizes[i] / sizes[0] x S: the first micro-batch "
         "has S, one half as large S / 2.";
}

/// Where all are equally large, a gradient goes into the sum as it is.
void expect_seeds(Judge& judge, const Trial& t, const Sums& right, const std::vector<Call>& calls) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const auto size = static_cast<double>(t.batches[i].size), first = static_cast<double>(t.batches[0].size);
    const double seed = static_cast<double>(t.scale) * (size / first);
    judge.expect(near(static_cast<double>(calls[i].seed), seed, right.equal ? 0 : 1e-6 * seed), [&] {
      return why_seed(t, right, calls[i], size) +
             lines(t, "the seed " + shown(seed) + " for micro-batch " + std::to_string(i),
                   "the seed " + decimal(calls[i].seed));
    });
  }
}

void expect_number(Judge& judge, const Trial& t, const Sums& right, double yours) {
  const double number = right.samples / static_cast<double>(t.batches[0].size);
  judge.expect(near(yours, number, right.equal ? 0 : 1e-12 * number), [&] {
    return std::string(right.equal ? "Your micro_batches is not their number, though all are equally large."
                                   : "Your micro_batches is not the number of samples / sizes[0].") +
           lines(t, shown(number), shown(yours));
  });
}

/// On meta tensors have no values: all that can be asked is where the seeds lie.
void run_on_meta(Judge& judge, const std::vector<std::int64_t>& sizes) {
  Trial t{false, 1024, {}};
  for (const std::int64_t size : sizes) t.batches.push_back({size, 1, 1});
  Message reply = judge.ask(Message().put(Setting{.half = 0, .scale = t.scale, .meta = 1}).put_all(t.batches),
                            [&] { return "  in accumulate on the device meta" + shown(t); });
  const auto elsewhere = reply.take<std::int64_t>();
  judge.expect(elsewhere == 0, [&] {
    return "Your seeds lie on another device than the one that accumulate() is given." +
           lines(t, "all on meta", std::to_string(elsewhere) + " elsewhere");
  });
}

const char* why_loss(const Trial& t, const Sums& right, const Answer& yours, double off) {
  const auto loss = static_cast<double>(yours.loss), count = static_cast<double>(t.batches.size());
  if (yours.has_loss == 0) return "Your code returns no loss.";
  if (!std::isfinite(right.loss))
    return "Your loss leaves out one that is not finite: the log has to show it.";
  if (loss == 0 && t.batches.size() > 1)
    return "Your loss is 0: sizes[i] / samples is 0 where both are whole numbers. Divide in double.";
  if (near(loss, right.loss_of_means, off))
    return "Your loss is the mean of the means: it counts samples, as the gradient does.";
  if (near(loss, right.loss_of_means * count, count * off))
    return "Your loss is the sum of the losses, not their mean.";
  if (loss == static_cast<double>(t.batches.back().loss)) return "Your loss is that of the last micro-batch.";
  return "Your loss is not the mean over all samples.";
}

void expect_loss(Judge& judge, const Trial& t, const Sums& right, const Answer& yours) {
  const auto loss = static_cast<double>(yours.loss);
  double size = 0;
  for (const MicroBatch& b : t.batches) size = std::max(size, std::fabs(static_cast<double>(b.loss)));
  const double off = rounding(t) * size;
  const bool is_right = std::isnan(right.loss)      ? std::isnan(loss)
                        : std::isfinite(right.loss) ? near(loss, right.loss, off)
                                                    : loss == right.loss;
  judge.expect(yours.has_loss != 0 && yours.loss_is_f32 != 0 && is_right, [&] {
    return why_loss(t, right, yours, off) +
           lines(t, "loss " + shown(right.loss),
                 yours.has_loss == 0 ? "none" : "loss " + decimal(yours.loss));
  });
}

/// The step is skipped once, and S backs off once.
void expect_skipped(Judge& judge, const Trial& t, const Answer& yours) {
  judge.expect(
      yours.has_step == 1 && yours.nonfinite == 1 && yours.taken == 0 && yours.weight == 1 &&
          yours.next_scale == t.scale / 2,
      [&] {
        return "Your code keeps a gradient that is not finite out of the sum: then the step is taken, with "
               "the mean of the others." +
               lines(t, "no step, and S = " + decimal(t.scale / 2) + " behind it",
                     (yours.taken != 0 ? "a step, the weight " : "no step, the weight ") +
                         decimal(yours.weight) + ", and S = " + decimal(yours.next_scale));
      });
}

Message answer_of(Judge& judge, const Trial& t) {
  try {
    return judge.ask(Message().put(Setting{.half = t.half ? 1 : 0, .scale = t.scale}).put_all(t.batches),
                     [&] { return "  in accumulate" + shown(t); });
  } catch (const Threw& threw) {
    const std::string why = threw.what();
    if (why.find("of 0 times the usual samples") == std::string::npos) throw;
    judge.fail(
        "Your code gives a micro-batch the seed 0: sizes[i] / sizes[0] of whole numbers has no fraction. "
        "Divide in "
        "double." +
        lines(t, "a seed above 0", why));
  }
}

void run(Judge& judge, const Trial& t) {
  Message reply = answer_of(judge, t);
  const auto yours = reply.take<Answer>();
  const std::vector<Call> calls = reply.take_all<Call>();
  const Sums right = sums_of(t);
  expect_calls(judge, t, calls);
  judge.expect(std::isfinite(yours.micro_batches) && yours.micro_batches > 0, [&] {
    return "Your micro_batches is no number above 0." +
           lines(t, shown(right.samples / static_cast<double>(t.batches[0].size)),
                 shown(yours.micro_batches));
  });
  // In FP16 each gradient and each sum is rounded to 11 bits, and so is the seed's share of S.
  const double off = right.size_of * (t.half ? 0x1p-10 * static_cast<double>(t.batches.size()) : rounding(t));
  if (right.finite) {
    if (right.equal) expect_seeds(judge, t, right, calls);
    judge.expect(yours.has_step != 0 && near(static_cast<double>(yours.gradient), right.gradient, off), [&] {
      return why_gradient(t, right, yours, calls, off) +
             lines(t, "gradient " + shown(right.gradient), "gradient " + decimal(yours.gradient));
    });
    expect_seeds(judge, t, right, calls);
    judge.expect(yours.taken == 1 && yours.next_scale == t.scale, [&] {
      return "Your code has a step skipped whose gradients were all finite." + lines(t, "a step", "none");
    });
  } else {
    expect_skipped(judge, t, yours);
  }
  expect_number(judge, t, right, yours.micro_batches);
  expect_loss(judge, t, right, yours);
}

std::vector<MicroBatch> equal(std::int64_t size, const std::vector<float>& gradients) {
  std::vector<MicroBatch> all;
  for (const float g : gradients) all.push_back({size, g, 1 + static_cast<float>(all.size())});
  return all;
}

/// Some sizes, whole numbers as gradients.
Trial drawn(Judge& judge, bool half, std::int64_t count, bool alike, std::int64_t largest = 64) {
  const std::int64_t scales = !half ? 16 : count > 9 ? 1 : 4;  // so that the sum is finite in FP16
  Trial t{half, std::ldexp(1.0f, static_cast<int>(judge.draw_below(scales))), {}};
  const std::int64_t size = 1 + judge.draw_below(largest);
  for (std::int64_t i = 0; i < count; ++i) {
    const auto g = static_cast<float>(1 + judge.draw_below(64)) * (judge.draw_below(4) == 0 ? -1.0f : 1.0f);
    t.batches.push_back({alike ? size : 1 + judge.draw_below(largest), half ? g / 16 : g / 3,
                         static_cast<float>(judge.draw_below(1024)) / 256});
  }
  if (!alike && count > 1) t.batches[1].size = 1 + t.batches[0].size % largest;  // not all are equally large
  return t;
}

}  // namespace

void check(Judge& judge) {
  run(judge, {false, 1024, {{5, 3, 2}}});
  run(judge, {false, 1, equal(2, {4, 16})});
  run(judge, {false, 1, {{2, 4, 1}, {5, 16, 5}}});
  run(judge, {false, 1, {{3, 4, 1}, {1, 16, 5}}});  // 7, and not 10
  run(judge, {false, 1024, {{3, 4, 1}, {1, 16, 5}}});
  run(judge, {false, 3, {{1, 16, 5}, {3, 4, 1}}});
  run(judge, {false, 65536, {{8, 1, 2}, {8, -2, 2}, {8, 4, 1}, {5, 7, 3}}});
  run(judge, {true, 1024, {{4, 4, 1}, {1, 16, 5}}});
  run(judge, {true, 1, equal(8, std::vector<float>(8, 0x1p-24f))});  // an eighth of one is 0
  run(judge, {true, 1024, equal(8, {24, 8, -24, 2})});               // eight times one is infinite
  run(judge, {false, 1024, {{3, 4, 1}, {3, infinity, 5}, {3, 2, 1}}});
  run(judge, {false, 1024, {{3, infinity, infinity}, {3, 4, 1}}});
  run(judge, {false, 1024, {{3, 4, 1}, {1, no_number, no_number}}});
  run(judge, {true, 1024, {{3, 4, 1}, {1, infinity, 2}}});
  run(judge, {true, 32768, equal(1, {1, 1, 0.5f})});  // each is finite, and their sum is not
  run(judge, {false, 1024, {{64, 1, 2}, {64, -2, 2}, {64, 4, 1}, {1, 7, 3}}});
  run(judge, {false, 1024, {{1, 7, 3}, {64, 1, 2}, {64, 4, 1}}});
  run(judge, {true, 1, {{64, 0x1p-18f, 2}, {64, 0x1p-18f, 2}, {64, 0x1p-18f, 1}, {1, 0x1p-18f, 3}}});
  run(judge, {true, 16, {{64, 100, 2}, {64, 100, 2}, {64, -100, 1}, {1, 1000, 3}}});
  run(judge, {true, 1, {{1, 100, 3}, {64, 100, 2}, {64, 100, 1}}});
  run(judge, {false, 65536, equal(8, std::vector<float>(32, 3))});  // 32 x 8 = 256 samples
  run(judge, {false, 1024, {{100000, 3, 2}, {256, 5, 1}, {70000, 2, 3}}});
  run(judge, {false, 1024, equal(400, std::vector<float>(200, 1))});
  for (const std::int64_t count : {16, 32, 48, 64}) {
    for (const bool half : {false, true})
      for (const bool alike : {false, true}) run(judge, drawn(judge, half, count, alike, half ? 64 : 1000));
  }
  run_on_meta(judge, {8, 8, 8});
  run_on_meta(judge, {8, 8, 3});
  for (int i = 0; i < 400; ++i) run(judge, drawn(judge, i % 2 == 1, 1 + i % 9, i % 3 == 0));
}

}  // namespace tinymp::exercise
