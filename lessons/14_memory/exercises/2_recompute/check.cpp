// Exercise 14.2: blocks that run again in backward. What is right follows from the setting: y + draw (y w) has the gradients
// of a product of factors 1 + draw w, where autocast rounds w to 1.

#include <lessons/14_memory/exercises/2_recompute/check_others.h>
#include <lessons/lab/classroom/judge.h>
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

using enum DType;

struct Trial {
  Setting setting;
  std::vector<float> numbers;
};

bool in_force(When when) { return when == When::always || when == When::forwards; }
const char* told(When when) {
  switch (when) {
    case When::never:
      return "never";
    case When::always:
      return "forwards and backwards";
    case When::forwards:
      return "forwards, and over before backward";
    case When::backwards:
      break;
  }
  return "in backward only";
}

std::string shown(const Trial& t) {
  const Setting& s = t.setting;
  std::string text = "\n  " + std::to_string(s.blocks) + (s.blocks == 1 ? " block" : " blocks") +
                     (s.nested != 0 ? " inside of another" : "") + ", x = " + decimal(s.x) +
                     ", w = " + decimal(s.w) + ", draws";
  for (int i = 0; i < s.blocks; ++i) text += " " + decimal(t.numbers[static_cast<std::size_t>(i)]);
  if (s.autocast != When::never)
    text += "\n  autocast to " + std::string(name_of(s.format)) + ": " + told(s.autocast);
  if (s.products != When::never) text += std::string("\n  products in FP8: ") + told(s.products);
  return text;
}
std::string lines(const Trial& t, const std::string& expected, const std::string& yours) {
  return shown(t) + "\n  expected = " + expected + "\n  yours    = " + yours;
}

void expect_number(Judge& judge, const Trial& t, std::int32_t right, std::int32_t yours, const char* why,
                   const std::string& what) {
  judge.expect(right == yours,
               [&] { return why + lines(t, what + std::to_string(right), what + std::to_string(yours)); });
}

/// How often a block ran, and what was kept in between.
void expect_course(Judge& judge, const Trial& t, const Answer& yours, const std::string& threw) {
  const std::int32_t blocks = t.setting.blocks, all = t.setting.nested != 0 ? 3 * blocks : 2 * blocks;
  const std::int32_t casts = in_force(t.setting.autocast) ? 1 + t.setting.x_wants : 0;
  judge.expect(yours.threw == 0, [&] {
    return "Your code throws where everything is as it was the first time: " + threw +
           lines(t, "no error", "an error");
  });
  expect_number(judge, t, blocks, yours.runs_forward, "Your first run does not run the block once.",
                "runs of the blocks, forwards: ");
  expect_number(judge, t, 0, yours.kept_forward,
                "Your first run leaves its ops on the tape: they keep their activations, and backward goes "
                "through them, too. Pause the tape.",
                "blocks whose activations are kept: ");
  expect_number(judge, t, (t.setting.nested != 0 ? 1 : blocks) + casts, yours.nodes,
                "Your first run leaves something else on the tape than it should.", "ops on the tape: ");
  expect_number(judge, t, all, yours.runs, "Your code does not run each block once more in backward.",
                "runs of the blocks, in all: ");
  expect_number(judge, t, 1, yours.most_kept, "Your code keeps the activations of several blocks at a time.",
                "blocks whose activations are kept at once: ");
  expect_number(judge, t, 0, yours.kept, "Your code keeps activations behind backward.",
                "blocks whose activations are kept: ");
}

/// In which order the blocks run: forwards; as a part of the outer one again; from the last to the first.
std::vector<int> order_of(const Setting& s) {
  std::vector<int> order;
  for (int again = 0; again <= (s.nested != 0 ? 1 : 0); ++again)
    for (int i = 0; i < s.blocks; ++i) order.push_back(i);
  for (int i = s.blocks; i-- > 0;) order.push_back(i);
  return order;
}

void expect_effects(Judge& judge, const Trial& t, const Answer& yours, const std::vector<Run>& runs) {
  const std::vector<int> order = order_of(t.setting);
  for (std::size_t i = 0; i < order.size(); ++i) {
    const float right = t.numbers[static_cast<std::size_t>(order[i])];
    const bool again = i >= static_cast<std::size_t>(t.setting.blocks);
    judge.expect(runs.at(i).drawn == right, [&] {
      return std::string(again
                             ? "Your second run draws other random numbers than the first: its dropout would "
                               "have another mask, and the gradient belongs to another loss."
                             : "Your first run does not draw.") +
             lines(t, "run " + std::to_string(i + 1) + " draws " + decimal(right),
                   "run " + std::to_string(i + 1) + " draws " + decimal(runs.at(i).drawn));
    });
  }
  expect_number(
      judge, t, t.setting.blocks, yours.drawn,
      "Your code draws again in the second run: the next block, and the next step, get other numbers.",
      "numbers drawn: ");
  expect_number(judge, t, t.setting.blocks, yours.counted,
                "Your code has an effect happen twice: running averages would move twice.", "effects: ");
}

void expect_policies(Judge& judge, const Trial& t, const Answer& yours, const std::vector<Run>& runs) {
  const Setting& s = t.setting;
  const DType right = in_force(s.autocast) ? s.format : f32;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto format = static_cast<DType>(runs.at(i).format);
    const std::string run = "run " + std::to_string(i + 1) + ": a product ";
    judge.expect(format == right, [&] {
      return std::string(s.autocast == When::backwards
                             ? "Your second run is under an autocast that was not there the first time."
                             : "Your second run has lost autocast: its products have another format, and the "
                               "gradient is that of another function.") +
             lines(t, run + "in " + std::string(name_of(right)), run + "in " + std::string(name_of(format)));
    });
    const std::int32_t products = in_force(s.products) ? 1 : 0;
    judge.expect(runs.at(i).products == products, [&] {
      return std::string(
                 products == 0
                     ? "Your second run is under a policy of products that was not there the first time."
                     : "Your second run has lost the policy of products: what was FP8 the first time is not "
                       "the second time.") +
             lines(t, run + (products != 0 ? "in FP8" : "as it is"),
                   run + (products != 0 ? "as it is" : "in FP8"));
    });
  }
  const bool counts = s.autocast == When::always;
  expect_number(judge, t, in_force(s.autocast) ? 1 + s.x_wants : 0, yours.casts,
                counts ? "Your second run casts the weights once more: its tape has to be the SecondTape."
                       : "Your first run does not cast each weight once.",
                "weights cast: ");
  expect_number(judge, t, 1, yours.restored, "Your code leaves its policies in force.",
                "those of before are in force: ");
}

/// Whole numbers under autocast, where w is rounded to 1.
void expect_gradients(Judge& judge, const Trial& t, const Answer& yours) {
  const Setting& s = t.setting;
  const double w = in_force(s.autocast) ? 1 : static_cast<double>(s.w);
  double y = static_cast<double>(s.x), of_w = 0, of_x = 1;
  for (int i = 0; i < s.blocks; ++i) {
    const auto d = static_cast<double>(t.numbers[static_cast<std::size_t>(i)]);
    of_w = of_w * (1 + d * w) + d * y;
    of_x *= 1 + d * w;
    y *= 1 + d * w;
  }
  const auto expect_value = [&](double right, float found, const char* why, const std::string& what) {
    judge.expect(std::fabs(static_cast<double>(found) - right) <= 4e-6 * right, [&] {
      return why + lines(t, what + decimal(static_cast<float>(right)), what + decimal(found));
    });
  };
  expect_value(y, yours.loss, "Your first run does not return what the block returns.", "loss ");
  const char* const of_input = "Your input gets another gradient than without recomputation.";
  if (s.x_wants != 0)
    expect_value(of_x, yours.of_x, of_input, "gradient of x ");
  else
    judge.expect(yours.of_x == -1, [&] { return of_input + lines(t, "none", decimal(yours.of_x)); });
  expect_value(of_w, yours.of_w, "Your weight gets another gradient than without recomputation.",
               "gradient of w ");
}

void run(Judge& judge, const Trial& t) {
  Message reply = judge.ask(Message().put(Asked::gradient).put(t.setting).put_all(t.numbers), [&] {
    return "  in recompute" + shown(t) +
           (in_force(t.setting.autocast) ? "" : "\n  cast_policy() is nullptr in forward: it has no kept().");
  });
  const auto yours = reply.take<Answer>();
  const std::vector<Run> runs = reply.take_all<Run>();
  expect_course(judge, t, yours, reply.text());
  expect_effects(judge, t, yours, runs);
  expect_policies(judge, t, yours, runs);
  expect_gradients(judge, t, yours);
}

void expect_error(Judge& judge, Course course, const char* what) {
  const std::string threw =
      judge.ask(Message().put(Asked::course).put(course), [] { return "  a block of another course"; })
          .text();
  const bool right = threw.find("another course") != std::string::npos;
  judge.expect(course == Course::the_same ? threw.empty() : right, [&] {
    return std::string(
               course == Course::the_same
                   ? "Your code throws where everything is as it was the first time."
                   : "Your code does not see that a block has taken another course: expect_end() does.") +
           "\n  a block that has " + what + " the second time" +
           "\n  expected = " + (course == Course::the_same ? "no error" : "an error") +
           "\n  yours    = " + (threw.empty() ? "no error" : threw);
  });
}

Trial drawn(Judge& judge, When autocast, When products, std::int32_t blocks, bool nested) {
  Trial t{.setting = {.x = static_cast<float>(1 + judge.draw_below(2)),
                      .w = 1 + 0x1p-12f,
                      .format = judge.draw_below(2) == 0 ? f16 : bf16,
                      .autocast = autocast,
                      .products = products,
                      .blocks = blocks,
                      .nested = nested ? 1 : 0,
                      .x_wants = static_cast<std::int32_t>(judge.draw_below(2))},
          .numbers = {}};
  // Never the same number twice in a row. Products stay below 256: bf16 has 8 bits.
  auto number = static_cast<std::int64_t>(judge.draw_below(2));
  for (int i = 0; i < 20; ++i)
    t.numbers.push_back(static_cast<float>(1 + (number = (number + 1 + judge.draw_below(2)) % 3)));
  return t;
}

}  // namespace

void check(Judge& judge) {
  const auto all = {When::never, When::always, When::forwards, When::backwards};
  for (const std::int32_t blocks : {1, 2, 3})
    run(judge, drawn(judge, When::never, When::never, blocks, false));
  for (const When when : all) run(judge, drawn(judge, when, When::never, 1, false));
  for (const When when : all) run(judge, drawn(judge, When::never, when, 1, false));
  expect_error(judge, Course::the_same, "the same effects");
  expect_error(judge, Course::more_effects, "one effect more");
  expect_error(judge, Course::fewer_effects, "one effect fewer");
  check_others(judge);
  for (const bool nested : {false, true})
    for (const std::int32_t blocks : {1, 2, 3})
      for (const When autocast : all)
        for (const When products : all) run(judge, drawn(judge, autocast, products, blocks, nested));
}

}  // namespace tinymp::exercise
