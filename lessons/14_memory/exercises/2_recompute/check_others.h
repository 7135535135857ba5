#pragma once

#include <lessons/14_memory/exercises/2_recompute/setting.h>
#include <lessons/lab/classroom/judge.h>
#include <algorithm>
#include <string>
#include <vector>

/// Exercise 14.2: blocks of several inputs and results, blocks under policies of their own, and one that throws.
namespace tinymp::exercise {

struct Several {
  float w = 2;
  std::vector<std::int32_t> which;  ///< tensors of the inputs
  std::vector<float> x;             ///< values of the tensors
  std::vector<std::vector<Made>> blocks;
  std::vector<float> factors;  ///< of the last results in the loss
};

/// A number and its derivatives: of each x, and last of w.
struct Dual {
  double value;
  std::vector<double> by;
};
inline Dual sum_of(const Dual& a, double factor, const Dual& b) {
  Dual sum{a.value + factor * b.value, a.by};
  for (std::size_t i = 0; i < sum.by.size(); ++i) sum.by[i] += factor * b.by[i];
  return sum;
}

inline std::vector<Dual> results_of(const Several& t) {
  std::vector<Dual> in;
  for (const std::int32_t i : t.which) {
    in.push_back({static_cast<double>(t.x[static_cast<std::size_t>(i)]), std::vector(t.x.size() + 1, 0.0)});
    in.back().by[static_cast<std::size_t>(i)] = 1;
  }
  for (const std::vector<Made>& block : t.blocks) {
    std::vector<Dual> out;
    for (const Made& made : block) {
      Dual one = in[static_cast<std::size_t>(made.b)];
      if (made.a >= 0) {
        const Dual& a = in[static_cast<std::size_t>(made.a)];
        const double factor = static_cast<double>(made.factor);
        one = sum_of(one, factor * static_cast<double>(t.w), a);
        one.by.back() += factor * a.value;
      }
      out.push_back(one);
    }
    in = out;
  }
  return in;
}

inline std::string shown(const std::vector<float>& values) {
  std::string text;
  for (const float v : values) text += (text.empty() ? "" : "  ") + decimal(v);
  return text.empty() ? "none" : text;
}

inline std::string shown(const Several& t) {
  std::string text = "\n  " + std::to_string(t.which.size()) + " inputs:";
  for (const std::int32_t i : t.which)
    text += " x" + std::to_string(i) + " = " + decimal(t.x[static_cast<std::size_t>(i)]);
  text += ", w = " + decimal(t.w);
  for (const std::vector<Made>& block : t.blocks) {
    text += "\n  a block returns";
    for (const Made& made : block) {
      text += &made == &block[0] ? " {" : ", ";
      if (made.a >= 0) text += decimal(made.factor) + " w in[" + std::to_string(made.a) + "] + ";
      text += "in[" + std::to_string(made.b) + "]";
    }
    text += "}";
  }
  return text + "\n  factors of the results in the loss: " + shown(t.factors);
}

inline void expect_equal(Judge& judge, const Several& t, const std::vector<float>& right,
                         const std::vector<float>& yours, const char* why) {
  judge.expect(right == yours, [&] {
    return why + shown(t) + "\n  expected = " + shown(right) + "\n  yours    = " + shown(yours);
  });
}

inline void run_several(Judge& judge, const Several& t) {
  Message request;
  request.put(Asked::several).put(t.w).put_all(t.which).put_all(t.x);
  request.put(static_cast<std::int32_t>(t.blocks.size()));
  for (const std::vector<Made>& block : t.blocks) request.put_all(block);
  request.put_all(t.factors);
  Message reply = judge.ask(request, [&] { return "  in recompute" + shown(t); });
  const auto yours = reply.take<SeveralAnswer>();
  const auto results = reply.take_all<float>(), gradients = reply.take_all<float>();
  const std::string threw = reply.text();

  std::vector<float> right;
  const std::vector<Dual> duals = results_of(t);
  std::vector<float> by(t.x.size() + 1, 0);
  for (std::size_t j = 0; j < duals.size(); ++j) {
    right.push_back(static_cast<float>(duals[j].value));
    for (std::size_t i = 0; i < by.size(); ++i) by[i] += t.factors[j] * static_cast<float>(duals[j].by[i]);
  }
  const auto all = static_cast<float>(t.which.size());
  expect_equal(judge, t, {all, all}, {static_cast<float>(yours.inputs), static_cast<float>(yours.again)},
               "Your code does not give the block all of its inputs, in both runs.");
  expect_equal(judge, t, right, results,
               "Your first run does not return all results of the block, in order.");
  judge.expect(threw.empty(), [&] {
    return "Your code throws where everything is as it was the first time: " + threw + shown(t) +
           "\n  expected = no error\n  yours    = an error";
  });
  std::vector<float> found = gradients;
  found.push_back(yours.of_w);
  expect_equal(
      judge, t, by, found,
      "Your code loses a gradient: each result that reached the loss has one, each input may, and w.");
  judge.expect(yours.left_bytes == 0, [&] {
    return "Your code keeps tensors for ever: they live on when the tape, the block and its inputs are "
           "gone." +
           shown(t) + "\n  expected = 0 bytes\n  yours    = " + std::to_string(yours.left_bytes) + " bytes";
  });
}

/// Blocks of as many results as the next one has inputs. Some results are an input itself.
inline Several drawn_several(Judge& judge) {
  Several t;
  const std::int64_t tensors = 1 + judge.draw_below(3);
  std::int64_t inputs = 1 + judge.draw_below(4);
  for (std::int64_t i = 0; i < tensors; ++i) t.x.push_back(static_cast<float>(1 + judge.draw_below(8)));
  for (std::int64_t i = 0; i < inputs; ++i)
    t.which.push_back(static_cast<std::int32_t>(judge.draw_below(tensors)));
  const std::int64_t blocks = 1 + judge.draw_below(3);
  for (std::int64_t k = 0; k < blocks; ++k) {
    std::vector<Made> block;
    const std::int64_t results = 1 + judge.draw_below(4);
    for (std::int64_t j = 0; j < results; ++j) {
      Made made{};
      made.a = static_cast<std::int32_t>(judge.draw_below(inputs + 1)) - (j > 0 ? 1 : 0);
      made.a = std::min(made.a, static_cast<std::int32_t>(inputs - 1));
      made.b = static_cast<std::int32_t>(judge.draw_below(inputs));
      made.factor = static_cast<float>(1 + judge.draw_below(3));
      block.push_back(made);
    }
    t.blocks.push_back(block);
    inputs = results;
  }
  for (std::int64_t j = 0; j < inputs; ++j)
    t.factors.push_back(static_cast<float>(judge.draw_below(3) + (j == 0 ? 1 : 0)));
  return t;
}

// ---- Each block under what was in force around it.

inline std::string shown(DType format, bool products) {
  return (format == DType::f32 ? "no autocast" : "autocast to " + std::string(name_of(format))) +
         (products ? ", products in FP8" : "");
}

inline void run_policies(Judge& judge, const std::vector<Under>& under) {
  const auto told = [&] {
    std::string text = "\n  blocks in a row, each under its own:";
    for (const Under& one : under) text += " " + shown(one.format, one.products != 0) + ";";
    return text.substr(0, text.size() - 1);
  };
  Message reply = judge.ask(Message().put(Asked::policies).put_all(under), told);
  const std::vector<Run> runs = reply.take_all<Run>();
  const std::string threw = reply.text();
  for (std::size_t i = 0; i < 2 * under.size(); ++i) {
    const Under& right = under[i < under.size() ? i : 2 * under.size() - 1 - i];
    const bool is_right = i < runs.size() && static_cast<DType>(runs[i].format) == right.format &&
                          runs[i].products == right.products;
    judge.expect(is_right && threw.empty(), [&] {
      const std::string yours = i >= runs.size() || !threw.empty()
                                    ? "an error: " + threw
                                    : shown(static_cast<DType>(runs[i].format), runs[i].products != 0);
      return "Your second run has the policies of another block: each segment keeps its own." + told() +
             "\n  run " + std::to_string(i + 1) +
             "\n  expected = " + shown(right.format, right.products != 0) + "\n  yours    = " + yours;
    });
  }
}

inline std::vector<Under> drawn_policies(Judge& judge, int blocks) {
  constexpr DType formats[] = {DType::f32, DType::f16, DType::bf16};
  std::vector<Under> under;
  for (; blocks > 0; --blocks) {
    const DType format = formats[judge.draw_below(3)];
    under.push_back({format, static_cast<std::int32_t>(judge.draw_below(2))});
  }
  return under;
}

// ---- A block that throws leaves everything as it was.

inline void run_failure(Judge& judge, std::int32_t run) {
  const std::string in =
      std::string("\n  a block that throws in its ") + (run == 1 ? "first" : "second") + " run";
  Message reply = judge.ask(Message().put(Asked::failure).put(run), [&] { return in; });
  const auto yours = reply.take<AfterFailure>();
  const std::string threw = reply.text();
  const auto expect = [&](bool right, const char* what) {
    judge.expect(right, [&] {
      return "Your code leaves " + std::string(what) +
             " behind when a block throws: what begins has to end in a destructor, as Pause, InForce and "
             "SegmentRun "
             "do." +
             in + "\n  expected = as before\n  yours    = changed";
    });
  };
  judge.expect(threw == "the block fails", [&] {
    return "Your code does not let the error of a block through." + in +
           "\n  expected = the block fails\n  yours    = " + (threw.empty() ? "no error" : threw);
  });
  expect(yours.policies == 1, "its policies in force");
  expect(yours.tape == 1, "its own tape");
  expect(yours.records == 1, "the tape paused");
  expect(yours.remembers == 1, "its SegmentRun");
}

/// Blocks other than those of one input and one result.
inline void check_others(Judge& judge) {
  run_several(judge, {.which = {0}, .x = {3}, .blocks = {{{0, 0, 1}}}, .factors = {1}});
  run_several(judge, {.which = {0, 1}, .x = {3, 5}, .blocks = {{{1, 0, 1}}}, .factors = {1}});
  run_several(judge, {.which = {0}, .x = {3}, .blocks = {{{0, 0, 1}, {0, 0, 2}}}, .factors = {1, 2}});
  run_several(judge, {.which = {0}, .x = {3}, .blocks = {{{0, 0, 1}, {0, 0, 2}}}, .factors = {0, 1}});
  run_several(judge, {.which = {0}, .x = {3}, .blocks = {{{0, 0, 1}, {-1, 0, 1}}}, .factors = {1, 2}});
  run_several(judge, {.which = {0, 0}, .x = {3}, .blocks = {{{0, 1, 1}, {1, 0, 2}}}, .factors = {1, 2}});
  for (int i = 0; i < 100; ++i) run_several(judge, drawn_several(judge));
  run_policies(judge, {{DType::f16, 0}, {DType::f32, 0}});
  run_policies(judge, {{DType::f32, 1}, {DType::f32, 0}});
  for (int i = 0; i < 40; ++i) run_policies(judge, drawn_policies(judge, 2 + i % 3));
  for (const std::int32_t run : {1, 2}) run_failure(judge, run);
}

}  // namespace tinymp::exercise
