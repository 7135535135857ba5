// Exercise 4.4: the tape, backwards. Its ops are sums of their inputs with whole factors, so a gradient is
// the sum over all ways to the loss of the product of their factors. The oracle goes forwards: it moves one
// leaf by 1 and sees how far the loss moves.

#include <lessons/04_autograd/exercises/4_tape_walk/answers.h>
#include <lessons/04_autograd/exercises/4_tape_walk/oracle.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>

namespace tinymp::exercise {
namespace {

std::string lines_of(const std::string& expected, const std::string& yours) {
  return "\n  expected = " + expected + "\n  yours    = " + yours;
}

std::string numbers(const std::vector<int>& order) {
  std::string all;
  for (const int i : order) all += (all.empty() ? "" : ", ") + name(i);
  return all.empty() ? "none" : all;
}

void expect_order(Judge& judge, const Program& p, const std::vector<int>& yours) {
  const std::vector<bool> reaches = reaching(p);
  std::vector<int> right;
  for (int i = static_cast<int>(p.lines.size()) - 1; i >= 0; --i)
    if (!is_leaf(p, i) && reaches[static_cast<std::size_t>(i)]) right.push_back(i);
  judge.expect(yours == right, [&] {
    const bool all_reach = std::ranges::find(reaches, false) == reaches.end();
    const char* why = "Your tape does not run the ops as it should, newest first.";
    if (std::ranges::any_of(yours, [&](int i) { return !reaches[static_cast<std::size_t>(i)]; })) {
      why = "Your tape runs an op that does not reach the loss: its output has no gradient.";
    } else if (yours.empty()) {
      why = "Your tape runs no op: no gradient has arrived.";
    } else if (all_reach && (yours.size() < right.size() || yours.front() == right.back())) {
      why =
          "Your tape runs the oldest op first. When it runs, the gradient of its output is not there yet: go "
          "from the newest to the oldest.";
    } else if (yours.size() < right.size()) {
      why =
          "Your tape ends its walk too early: an op that does not reach the loss is passed over, and then "
          "the next one has its turn.";
    }
    return why + text(p) + "\n  ops run backwards:" + lines_of(numbers(right), numbers(yours));
  });
}

std::string why_gradient(const Program& p, int leaf, const Values& yours) {
  if (!yours.there()) return "Your tape brings no gradient to a leaf.";
  int last = 0, uses = 0;  // of the op that runs last
  for (int i = static_cast<int>(p.lines.size()) - 1; i > leaf; --i) {
    const Line& line = p.lines[static_cast<std::size_t>(i)];
    for (std::size_t k = 0; k < line.in.size(); ++k) {
      if (line.in[k] != leaf || !reaching(p)[static_cast<std::size_t>(i)]) continue;
      Program from_here = p;
      last = line.factors[k] * [&] {
        for (int j = 0; j <= i; ++j) from_here.lines[static_cast<std::size_t>(j)] = {};
        return slope(from_here, i);
      }();
      ++uses;
    }
  }
  if (uses > 1 && yours.is(last))
    return "Your tape gives a tensor that was used twice only the gradient of one use: they add up.";
  return "Your tape gives a wrong gradient.";
}

void expect_gradients(Judge& judge, const Program& p) {
  const Run found = run(judge, p);
  const Trace& trace = found.trace;
  judge.expect(trace.threw == 0, [&] {
    const bool of_data = p.data != no_leaf && !p.always_all;
    return (of_data
                ? std::string(
                      "Your tape threw where an op left a place empty: what requires no gradient gets none.")
                : std::string("Your tape threw.")) +
           text(p) + lines_of("no error", found.threw);
  });
  expect_order(judge, p, found.order);
  judge.expect(trace.wrong_needs == 0, [&] {
    return "Your tape asks Needs about others than the inputs of the op that runs." + text(p) +
           lines_of("Needs(node.inputs)", "another answer of needs(i)");
  });
  for (int i = 0; i < static_cast<int>(p.lines.size()); ++i) {
    const Values& yours = found.gradients[static_cast<std::size_t>(i)];
    const bool has_none = !is_leaf(p, i) || i == p.data || !reaching(p)[static_cast<std::size_t>(i)];
    if (has_none) {
      judge.expect(!yours.there(), [&] {
        return std::string(i == p.data ? "Your tape gives a gradient to an input that requires none: for a "
                                         "batch of images that is memory and time for nothing."
                                       : "Your tape keeps the gradient of an op's output. Once the op has "
                                         "run nobody needs it: clear_grad().") +
               text(p) + "\n  gradient of " + name(i) + ":" + lines_of("none", shown(yours));
      });
    } else {
      const int right = slope(p, i);
      judge.expect(yours.is(right), [&] {
        return why_gradient(p, i, yours) + text(p) + "\n  gradient of " + name(i) + ":" +
               lines_of(std::to_string(right), shown(yours));
      });
    }
  }
  judge.expect(trace.left == 0 && trace.not_freed == no_leaf, [&] {
    return std::string(
               "Your tape lets go of nothing on the way. A node keeps the activations of its op: pop_back() "
               "frees them before an older op runs.") +
           text(p) + "\n  nodes left:" +
           (trace.left > 0 ? lines_of("0", std::to_string(trace.left))
                           : lines_of("none that is newer than the op that runs",
                                      name(static_cast<int>(trace.not_freed))));
  });
}

/// a gets its second gradient last: b has kept the tensor that was a's first.
void expect_not_shared(Judge& judge) {
  const int factor = 2 + static_cast<int>(judge.draw_below(50)), sum = factor + 1;
  const Program p{{{}, {}, {{0}, {factor}}, {{0, 1}, {1, 1}}, {{3, 2}, {1, 1}}}, 4};
  const Run found = run(judge, p);
  const Values &a = found.gradients[0], &b = found.gradients[1];
  judge.expect(a.is(sum) && b.is(1), [&] {
    return std::string(b.is(sum)
                           ? "Your tape writes a sum in place into a gradient that another tensor shares: t3 "
                             "has handed one dy to t0 and to t1. The sum goes into a new tensor."
                           : "Your tape gives wrong gradients where one dy goes to two inputs.") +
           text(p) +
           "\n  gradients of t0, t1:" + lines_of(std::to_string(sum) + ", 1", shown(a) + ", " + shown(b));
  });
  expect_gradients(judge, p);
}

float drawn_whole(Judge& judge, int most) { return static_cast<float>(1 + judge.draw_below(most)); }

/// Two tapes, one after the other, add up in a parameter; what was read after the first stays.
void expect_accumulated(Judge& judge) {
  const float a = drawn_whole(judge, 100), b = drawn_whole(judge, 100);
  const std::vector<float> before{a, -a}, more{b, -b}, right{a + b, -a - b};
  Message reply = judge.ask(Message().put(Asked::accumulated).put_all(before).put_all(more));
  const Values first = take_values(reply), second = take_values(reply), first_now = take_values(reply);
  judge.expect(first.are(before) && second.are(right), [&] {
    return "Your tape does not add a second backward to what the first has left in a parameter: that stays "
           "until somebody clears it.\n  gradients " +
           shown(before) + ", and then " + shown(more) + ":" +
           lines_of(shown(before) + ", then " + shown(right), shown(first) + ", then " + shown(second));
  });
  judge.expect(first_now.are(before), [&] {
    return "Your tape writes the sum into the first gradient's memory, which somebody else holds: new sums "
           "go into new tensors." +
           lines_of(shown(before), shown(first_now));
  });
}

/// Formats: a sum keeps that of its tensor.
void expect_formats(Judge& judge) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const float a = drawn_whole(judge, 80), b = drawn_whole(judge, 80);
    Message reply = judge.ask(Message().put(Asked::format).put(dtype).put_all(std::vector{a, b}));
    const Values yours = take_values(reply);
    const std::vector<float> right{3 * a, 3 * b};
    judge.expect(yours.format == static_cast<int>(dtype) && yours.are(right), [&] {
      return concat(
                 "Your tape adds three gradients up wrongly, or in another format than that of their "
                 "tensor.\n  gradients of ",
                 dtype, ", three times ", shown(std::vector{a, b}), ":") +
             lines_of(concat(dtype, " ", shown(right)),
                      yours.there() ? concat(static_cast<DType>(yours.format), " ", shown(yours)) : "none");
    });
  }
}

/// What an optimizer has bound is written where it lies, and in its format.
void expect_bound(Judge& judge) {
  const float first = drawn_whole(judge, 100), odd = 2 * drawn_whole(judge, 40) - 1;
  const float third = drawn_whole(judge, 100), fourth = drawn_whole(judge, 100);
  Message reply = judge.ask(Message()
                                .put(Asked::bound)
                                .put(-7.0f)
                                .put_all(std::vector{first})
                                .put_all(std::vector{2048.0f, odd})  // the sum is no half
                                .put_all(std::vector{third, fourth}));
  const auto expect_buffer = [&](float right, const std::string& after) {
    const bool there = reply.take<int>() == 1;
    const Values buffer = take_values(reply);
    judge.expect(there && buffer.are({right}), [&] {
      return std::string(
                 "Your tape does not keep the whole gradient in x.bound_grad(), where an optimizer wants it: "
                 "written there (kernels::cast) the first time, added (kernels::accumulate) from then on.\n  "
                 "an FP16 tensor whose buffer is FP32; ") +
             after + ":" + lines_of(decimal(right), there ? shown(buffer) : "x.grad() is another tensor");
    });
  };
  expect_buffer(first, "-7 in the buffer, then a gradient of " + decimal(first));
  expect_buffer(first + 2048 + odd, decimal(first) + " in the buffer, then 2048 and " + decimal(odd));
  expect_buffer(third + fourth, "clear_grad(), then " + decimal(third) + " and " + decimal(fourth));
}

/// Gradients that do not fit are refused, by the name of the op.
void expect_refused(Judge& judge) {
  const auto refuse = [&](const char* what, Broken broken) {
    const std::string op = "broken" + std::to_string(judge.draw_below(1000));
    const std::string said = judge.ask(Message().put(Asked::refused).put(broken).put_text(op)).text();
    judge.expect(said.find(op) != std::string::npos, [&] {
      return "Your tape takes a gradient that does not fit its tensor, or does not name the op. It has to be "
             "refused with an Error that does: else a wrong backward is found much later, or never.\n  op '" +
             op + "', one input f32(2), gives " + what + ":" +
             lines_of("an Error with '" + op + "' in it", said);
    });
  };
  refuse("no gradients", Broken::none);
  refuse("an empty gradient", Broken::empty);
  refuse("f32(3)", Broken::longer);
  refuse("f16(2)", Broken::narrower);
  refuse("two gradients", Broken::two);
}

/// t1 = 2 t0 twice, and one op that does not reach the loss.
void expect_observed(Judge& judge) {
  const auto factor = [&] { return 2 + static_cast<int>(judge.draw_below(8)); };
  const int a = factor(), b = factor(), c = factor();
  const Program p{{{}, {{0}, {a}}, {{1}, {7}}, {{1, 1}, {b, c}}}, 3};
  const Run found = run(judge, p, true);
  const auto line = [](const std::string& op, const std::string& dy, const std::string& made,
                       const std::string& now) {
    return concat(op, ": dy ", dy, ", made ", made, ", now ", now);
  };
  const auto text_of = [](int x) { return std::to_string(x); };
  const std::vector<std::string> right{
      line("t3", "1", text_of(b), text_of(b + c)),
      line("t1", text_of(b + c), text_of(a * (b + c)), text_of(a * (b + c)))};
  std::vector<std::string> yours;
  for (const Seen& seen : found.seen)
    yours.push_back(line(seen.op, shown(seen.dy), shown(seen.made), shown(seen.now)) +
                    (seen.complete ? "" : " (not its own inputs and gradients)"));
  judge.expect(yours == right, [&] {
    std::string all;
    for (const std::string& one : yours) all += (all.empty() ? "" : "; ") + one;
    return "Your tape does not tell the observer of each op that was run, after its gradients were added." +
           text(p) + lines_of(right[0] + "; " + right[1], all.empty() ? "nothing" : all);
  });
}

}  // namespace

void check(Judge& judge) {
  const Line leaf{};
  expect_gradients(judge, {{leaf, {{0}, {3}}}, 1});
  expect_gradients(judge, {{leaf, {{0}, {3}}, {{1}, {5}}}, 2});
  expect_gradients(judge, {{leaf, {{0, 0}, {3, 5}}}, 1});
  expect_gradients(judge, {{leaf, {{0}, {3}}, {{0}, {5}}, {{1, 2}, {2, 7}}}, 3});
  expect_gradients(judge, {{leaf, {{0}, {2}}, {{1}, {3}}, {{1}, {5}}, {{2, 3}, {7, 4}}}, 4});
  expect_gradients(judge, {{leaf, leaf, {{0, 1}, {3, 5}}}, 2, 1});
  expect_gradients(judge, {{leaf, leaf, {{0, 1}, {3, 5}}}, 2, 1, false});
  expect_gradients(judge, {{leaf, {{0}, {2}}, {{1}, {7}}, {{1}, {3}}}, 3});
  expect_gradients(judge, {{leaf, {{0}, {2}}, {{1}, {3}}, {{1}, {7}}}, 2});
  expect_not_shared(judge);
  expect_accumulated(judge);
  expect_formats(judge);
  expect_bound(judge);
  expect_refused(judge);
  expect_observed(judge);
  for (int i = 0; i < 400; ++i) expect_gradients(judge, drawn(judge, 5 + i * 6 / 400));
}

}  // namespace tinymp::exercise
