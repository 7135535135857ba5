// Exercise 9.2: copies of parameters, over tapes, steps and regions. What is right is known: which answers
// are one tensor, how many copies were made, and small whole numbers as gradients. At the end uses, steps and
// tapes come in any order: two uses of a weight get one copy where no use between them, of whatever weight,
// came after another step or under another tape.

#include <lessons/09_autocast/exercises/2_cast_once/script.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/numeric/half.h>
#include <algorithm>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

using enum DType;

void expect_made(Judge& judge, const Answer& last, std::int64_t right, const char* why,
                 const std::string& what) {
  judge.expect(last.made == right, [&] {
    return why +
           lines(what, std::to_string(right) + " copies made", std::to_string(last.made) + " copies made");
  });
}

void expect_value(Judge& judge, const Answer& copy, float right, DType format, const char* why,
                  const std::string& what) {
  judge.expect(copy.value == right && copy.format == static_cast<int>(format), [&] {
    return why + lines(what, std::string(name_of(format)) + " " + decimal(right),
                       name_of_answer(copy.format) + " " + decimal(copy.value));
  });
}

void expect_same(Judge& judge, bool same, const Answer& a, const Answer& b, const char* why,
                 const std::string& what) {
  judge.expect((a.id == b.id) == same, [&] {
    return why + lines(what, same ? "one tensor" : "two tensors", same ? "two tensors" : "one tensor");
  });
}

void used_twice(Judge& judge) {
  const float v = drawn_fraction(judge), other = v + 1;
  Script script;
  script.region(f16);
  const std::uint32_t a = script.parameter(v), b = script.parameter(other);
  script.tape();
  const std::size_t first = script.product(a), second = script.product(b), third = script.product(a);
  const Answers got = script.ask(judge);
  expect_value(judge, got[first], static_cast<float>(half(v)), f16,
               "Your copy is not the parameter, rounded.", "a weight of " + decimal(v));
  expect_same(judge, true, got[first], got[third],
              "Your code gives the second use a copy of its own: one cast is enough.",
              "a weight used twice under one tape");
  expect_value(judge, got[second], static_cast<float>(half(other)), f16,
               "Your code gives another parameter the copy of the first.",
               "a second weight, " + decimal(other));
  expect_made(judge, got[third], 2, "Your `made` does not count the copies.", "two weights, three uses");
}

void changed(Judge& judge) {
  const float before = drawn_whole(judge), after = before + drawn_whole(judge);
  Script script;
  script.region(f16);
  const std::uint32_t w = script.parameter(before);
  script.tape();
  script.product(w);
  script.step(w, after);
  const std::size_t second = script.product(w);
  const Answers got = script.ask(judge);
  expect_value(
      judge, got[second], after, f16,
      "Your copy is from before the optimizer's step: the model computes with the weights of yesterday.",
      "a weight of " + decimal(before) + ", after a step " + decimal(after));
  expect_made(judge, got[second], 2, "Your code does not copy before and after the step.",
              "a use, a step, a use");
}

std::string shown(const std::vector<float>& parts) {
  std::string all;
  for (const float part : parts) all += (all.empty() ? "" : ", ") + decimal(part);
  return all;
}

/// w.grad() of x1 w + x2 w + ..., by parts.
void gradient(Judge& judge, const std::vector<float>& parts) {
  const char* const unrecorded =
      "Your code does not record its copy on the tape: no gradient comes back to the parameter.";
  float right = 0;
  for (const float part : parts) right += part;
  Message reply = judge.ask(Message().put(Asked::gradient).put(drawn_whole(judge)).put_all(parts),
                            [] { return "The gradient of a weight."; });
  for (int round = 1; round <= 2; ++round) {
    const auto yours = reply.take<Round>();
    const std::string error = reply.text();
    judge.expect(yours.wants_gradient == 1, [&] {
      return unrecorded + lines("a use of a weight", "gradient " + decimal(right), "none");
    });
    if (yours.threw != 0)
      judge.fail(std::string("Your copy lets no gradient through: its own is FP16, and the parameter FP32. "
                             "Backward wants a buffer in the parameter's format.") +
                 lines(error, "gradient " + decimal(right) + " in f32", "none"));
    const std::string what =
        std::to_string(parts.size()) + " uses of a weight, step " + std::to_string(round);
    judge.expect(yours.format >= 0, [&] {
      return (round == 1 ? unrecorded
                         : "Your code lets no gradient come back in the second step: its copy was recorded "
                           "on the first tape, which is gone. Another tape wants another copy.") +
             lines(what, "gradient " + decimal(right), "none");
    });
    judge.expect(yours.gradient == right && yours.format == static_cast<int>(f32), [&] {
      return "Your code adds the gradients of the uses up in FP16, where 2048 + 1 is 2048: they want a "
             "buffer in the parameter's format." +
             lines(what + (parts.size() > 1 ? ": " + shown(parts) : ""), "gradient " + decimal(right),
                   "gradient " + decimal(yours.gradient));
    });
  }
  expect_made(judge, {.id = 0, .made = reply.take<std::int64_t>(), .format = -1, .value = 0}, 2,
              "Your code does not make one copy for each tape.", "two steps, each with a tape");
}

void not_kept(Judge& judge) {
  const float v = static_cast<float>(1 + judge.draw_below(100)) / 128;
  Script script;
  script.region(f16);
  script.tape();
  const std::uint32_t w = script.parameter(drawn_whole(judge)), x = script.data(drawn_fraction(judge));
  const std::uint32_t y = script.activation(w);
  const std::size_t data = script.product(x), data_again = script.product(x);
  const std::size_t activation = script.product(y), activation_again = script.product(y);
  const std::uint32_t narrow = script.parameter(v, f16);
  const std::size_t wide = script.exp(narrow), wide_again = script.exp(narrow);
  const std::size_t as_it_is = script.product(narrow), as_it_is_again = script.product(narrow);
  const Answers got = script.ask(judge);
  expect_same(judge, false, got[data], got[data_again],
              "Your code keeps what wants no gradient: images change with each batch, and would be held.",
              "data, used twice");
  expect_same(judge, false, got[activation], got[activation_again],
              "Your code keeps an activation: it is no leaf, and the next batch has others.",
              "an activation, used twice");
  expect_value(judge, got[wide], v, f32, "Your code gives an op in FP32 a parameter in another format.",
               "an FP16 weight under exp");
  expect_same(judge, false, got[wide], got[wide_again],
              "Your code keeps a copy in FP32; kept are those in the region's format.",
              "an FP16 weight under exp, twice");
  expect_same(judge, true, got[as_it_is], got[as_it_is_again],
              "Your code copies what has the format already.", "an FP16 weight");
  expect_made(judge, got[as_it_is_again], 0, "Your `made` counts copies that are not kept.",
              "data, an activation, exp");
}

void tapes(Judge& judge) {
  const float value = drawn_whole(judge);
  Script script;
  script.region(f16);
  const std::uint32_t w = script.parameter(value);
  const std::size_t none = script.product(w), none_again = script.product(w);
  script.tape();
  const std::size_t first = script.product(w);
  script.tape();
  const std::size_t inner = script.product(w);
  script.end_tape();
  const std::size_t behind = script.product(w), behind_again = script.product(w);
  script.region(f16);
  const std::size_t shared = script.product(w);
  script.region(bf16);
  const std::size_t other = script.product(w);
  const Answers got = script.ask(judge);
  expect_same(judge, true, got[none], got[none_again], "Your code copies twice without a tape.",
              "a weight used twice, no tape");
  expect_same(judge, false, got[none], got[first],
              "Your code uses a copy from before the tape, without a gradient: the tape wants another.",
              "a use before the tape, and one under it");
  expect_same(judge, false, got[first], got[inner], "Your code uses one copy under two tapes.",
              "a tape inside a tape");
  expect_same(judge, true, got[behind], got[behind_again], "Your code copies twice after the inner tape.",
              "behind the inner tape, twice");
  expect_made(judge, got[behind_again], 4, "Your code does not make a copy for each change of tape.",
              "none, outer, inner, outer");
  expect_made(judge, got[shared], 4, "Your code makes a copy anew in a region of the same format.",
              "a region inside");
  const char* const inside = "Your code gives an inner region of another format no copies of its own.";
  expect_value(judge, got[other], value, bf16, inside, "bf16");
  expect_made(judge, got[other], 1, inside, "bf16");
}

/// A parameter that is gone leaves its place in memory to the next one. (A tape would hold it.)
void gone(Judge& judge) {
  Script script;
  script.region(f16);
  std::vector<float> values(200);
  float value = drawn_whole(judge);
  for (float& one : values) script.passing(one = value += static_cast<float>(1 + judge.draw_below(9)));
  const Answers got = script.ask(judge);
  for (std::size_t i = 0; i < values.size(); ++i)
    expect_value(judge, got[i + 1], values[i], f16,
                 "Your code gives a new parameter the copy of one that is gone: hold the parameter beside "
                 "its copy, or its id is given to another.",
                 "weights that come and go");
}

/// A use of a weight among others.
struct Use {
  std::size_t at;
  std::uint32_t weight;
  float value;
  std::uint32_t tape;  ///< 0: none
  int steps;           ///< before it
};

void in_any_order(Judge& judge) {
  Script script;
  script.region(f16);
  std::vector<float> values(3);
  for (float& value : values) script.parameter(value = drawn_whole(judge));
  std::vector<Use> uses;
  std::vector<std::uint32_t> open{0};
  std::uint32_t tapes = 0;
  int steps = 0;
  std::string told = "3 weights:";
  for (int i = 0; i < 20; ++i) {
    const auto weight = static_cast<std::uint32_t>(judge.draw_below(3));
    switch (judge.draw_below(6)) {
      case 0:
        script.step(weight, values[weight] += drawn_whole(judge));
        ++steps;
        told += " step,";
        break;
      case 1:
        script.tape();
        open.push_back(++tapes);
        told += " tape,";
        break;
      case 2:
        if (open.size() == 1) break;
        script.end_tape();
        open.pop_back();
        told += " end of tape,";
        break;
      default:
        break;
    }
    const auto used = static_cast<std::uint32_t>(i < 3 ? i : judge.draw_below(3));
    uses.push_back({script.product(used), used, values[used], open.back(), steps});
    told += " use of " + std::to_string(used) + ",";
  }
  const Answers got = script.ask(judge);
  std::int64_t made = 0;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    const Use& use = uses[i];
    const auto alike = [&](const Use& x) { return x.tape == use.tape && x.steps == use.steps; };
    std::size_t before = i;  // the last use of this weight, if all since then are alike
    while (before > 0 && alike(uses[before - 1]) && uses[before - 1].weight != use.weight) --before;
    const bool kept = before > 0 && alike(uses[before - 1]);
    if (!kept) ++made;
    const std::string what = told + " and here use " + std::to_string(i + 1);
    expect_value(judge, got[use.at], static_cast<float>(half(use.value)), f16,
                 "Your copy is not that of the weight as it is now.", what);
    for (std::size_t k = i; k-- > 0;) {
      if (uses[k].weight != use.weight) continue;
      judge.expect((got[uses[k].at].id == got[use.at].id) == kept, [&] {
        return "Your code keeps a copy for too long or too short: until a use comes after a step, or under "
               "another tape." +
               lines(what, kept ? "the copy of the last use" : "a new copy",
                     kept ? "a new copy" : "the copy of the last use");
      });
      break;
    }
    judge.expect(got[use.at].made == made, [&] {
      return "Your `made` does not count the copies." +
             lines(what, std::to_string(made), std::to_string(got[use.at].made));
    });
  }
}

}  // namespace

void check(Judge& judge) {
  Script script;  // a weight's copies before there was any tape, and under the first one, whose number is 1
  script.region(f16);
  const std::uint32_t w = script.parameter(drawn_whole(judge));
  const std::size_t none = script.product(w);
  script.tape();
  const std::size_t first = script.product(w);
  const Answers around_the_first_tape = script.ask(judge);
  not_kept(judge);
  used_twice(judge);
  changed(judge);
  gradient(judge, {drawn_whole(judge)});
  const auto odd = [&] { return static_cast<float>(1 + 4 * judge.draw_below(20)); };
  gradient(judge, {odd(), 2048, odd()});  // the sum is no half
  tapes(judge);
  expect_same(judge, false, around_the_first_tape[none], around_the_first_tape[first],
              "Your code takes no tape for the first one: without a tape the number is 0, which no tape has.",
              "a use before the first tape of all, and one under it");
  gone(judge);
  for (int i = 0; i < 100; ++i) in_any_order(judge);
}

}  // namespace tinymp::exercise
