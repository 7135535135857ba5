// Exercise 4.4: the tape, backwards. Its ops are sums of their inputs with whole factors, so a gradient is
// the sum over all ways to the loss of the product of their factors. The oracle goes forwards: it moves one
// leaf by 1 and sees how far the loss moves.

#include <lessons/04_autograd/exercises/4_tape_walk/programs.h>
#include <lessons/classroom/judge.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <memory>
#include <optional>

namespace tinymp::exercise {
namespace {

std::string shown(const Tensor& gradient) {
  if (!gradient) return "none";
  std::string all;
  for (const float v : gradient.to_floats()) all += (all.empty() ? "" : " ") + decimal(v);
  return all;
}

std::string lines_of(const std::string& expected, const std::string& yours) {
  return "\n  expected = " + expected + "\n  yours    = " + yours;
}

std::string numbers(const std::vector<int>& order) {
  std::string all;
  for (const int i : order) all += (all.empty() ? "" : ", ") + name(i);
  return all.empty() ? "none" : all;
}

void expect_order(Judge& judge, const Program& p, const Trace& trace) {
  const std::vector<bool> reaches = reaching(p);
  std::vector<int> right;
  for (int i = static_cast<int>(p.lines.size()) - 1; i >= 0; --i)
    if (!is_leaf(p, i) && reaches[static_cast<std::size_t>(i)]) right.push_back(i);
  judge.expect(trace.order == right, [&] {
    const auto& yours = trace.order;
    const bool all_reach = std::ranges::find(reaches, false) == reaches.end();
    const char* why = "The ops were not run as they should, newest first.";
    if (std::ranges::any_of(yours, [&](int i) { return !reaches[static_cast<std::size_t>(i)]; })) {
      why = "An op was run that does not reach the loss: its output has no gradient.";
    } else if (yours.empty()) {
      why = "No gradient has arrived: no op was run.";
    } else if (all_reach && (yours.size() < right.size() || yours.front() == right.back())) {
      why =
          "The oldest op comes first here. When it comes, the gradient of its output is not there yet: go "
          "from the newest to the oldest.";
    } else if (yours.size() < right.size()) {
      why =
          "The walk ended too early: an op that does not reach the loss is passed over, and then the next "
          "one has its turn.";
    }
    return why + text(p) + "\n  ops run backwards:" + lines_of(numbers(right), numbers(yours));
  });
}

std::string why_gradient(const Program& p, int leaf, const Tensor& yours) {
  if (!yours) return "No gradient has arrived at a leaf.";
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
  if (uses > 1 && yours.item() == last)
    return "A tensor that was used twice has only the gradient of one use: they add up.";
  return "The gradient is wrong.";
}

void expect_gradients(Judge& judge, const Program& p) {
  const Trace trace = run(p);
  judge.expect(!trace.threw, [&] {
    const bool of_data = p.data != no_leaf && !p.always_all;
    return (of_data
                ? std::string("What requires no gradient gets none, and its op may leave that place empty.")
                : std::string("It threw.")) +
           text(p) + lines_of("no error", *trace.threw);
  });
  expect_order(judge, p, trace);
  judge.expect(!trace.wrong_needs, [&] {
    return "Needs is about the inputs of the op that runs." + text(p) +
           lines_of("Needs(node.inputs)", "another answer of needs(i)");
  });
  for (int i = 0; i < static_cast<int>(p.lines.size()); ++i) {
    const Tensor yours = trace.tensors[static_cast<std::size_t>(i)].grad();
    const bool has_none = !is_leaf(p, i) || i == p.data || !reaching(p)[static_cast<std::size_t>(i)];
    if (has_none) {
      judge.expect(!yours, [&] {
        return std::string(i == p.data
                               ? "An input that requires no gradient got one: for a batch of images that is "
                                 "memory and time for nothing."
                               : "The gradient of an op's output was kept. Once the op has run nobody needs "
                                 "it: clear_grad().") +
               text(p) + "\n  gradient of " + name(i) + ":" + lines_of("none", shown(yours));
      });
    } else {
      const int right = slope(p, i);
      judge.expect(yours && yours.item() == right, [&] {
        return why_gradient(p, i, yours) + text(p) + "\n  gradient of " + name(i) + ":" +
               lines_of(std::to_string(right), shown(yours));
      });
    }
  }
  judge.expect(trace.left == 0 && trace.not_freed == no_leaf, [&] {
    return std::string(
               "The tape lets go of nothing on the way. A node keeps the activations of its op: pop_back() "
               "frees them before an older op runs.") +
           text(p) + "\n  nodes left:" +
           (trace.left > 0 ? lines_of("0", std::to_string(trace.left))
                           : lines_of("none that is newer than the op that runs", name(trace.not_freed)));
  });
}

/// a gets its second gradient last: b has kept the tensor that was a's first.
void expect_not_shared(Judge& judge) {
  const Program p{{{}, {}, {{0}, {10}}, {{0, 1}, {1, 1}}, {{3, 2}, {1, 1}}}, 4};
  const Trace trace = run(p);
  const Tensor a = trace.tensors[0].grad(), b = trace.tensors[1].grad();
  judge.expect(a && b && a.item() == 11 && b.item() == 1, [&] {
    const bool in_place = b && b.item() == 11;
    return std::string(in_place
                           ? "A sum was written in place into a gradient that another tensor shares: t3 has "
                             "handed one dy to t0 and to t1. The sum goes into a new tensor."
                           : "The gradients are wrong where one dy goes to two inputs.") +
           text(p) + "\n  gradients of t0, t1:" + lines_of("11, 1", shown(a) + ", " + shown(b));
  });
  expect_gradients(judge, p);
}

/// Two tapes, one after the other, add up in a parameter; what was read after the first stays.
void expect_accumulated(Judge& judge) {
  const Tensor x = vector_of({1, 2}).set_requires_grad(true);
  const auto pass = [&](float factor) {
    Tape tape;
    tape.backward(record("t1", {x}, scalar(0), [factor](const Tensor&, const Needs&) {
      return std::vector{vector_of({factor, -factor})};
    }));
  };
  pass(3);
  const Tensor first = x.grad();
  pass(5);
  const std::vector<float> right{8, -8}, before{3, -3};
  judge.expect(x.grad() && x.grad().to_floats() == right, [&] {
    return "A second backward adds to what the first has left in a parameter, until somebody clears it.\n  "
           "gradients 3 -3, and then 5 -5:" +
           lines_of("8 -8", shown(x.grad()));
  });
  judge.expect(first.to_floats() == before, [&] {
    return "The sum was written into the first gradient's memory, and somebody else holds that: new sums go "
           "into new "
           "tensors." +
           lines_of("3 -3", shown(first));
  });
}

/// Formats: a sum keeps that of its tensor.
void expect_formats(Judge& judge) {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
    const std::vector<double> wide{1, 1};
    const Tensor x =
        dtype == DType::f64 ? Tensor::from({2}, std::span<const double>(wide)) : vector_of({1, 1}, dtype);
    x.set_requires_grad(true);
    Tape tape;
    tape.backward(record("t1", {x, x, x}, scalar(0), [&](const Tensor&, const Needs&) {
      return std::vector{x, x, x};
    }));
    const std::vector<float> right{3, 3};
    judge.expect(x.grad() && x.grad().dtype() == dtype && x.grad().to_floats() == right, [&] {
      return concat("A gradient has the format of its tensor, also where three were added.\n  gradients of ",
                    dtype, ", 1 + 1 + 1:") +
             lines_of(concat(dtype, " 3 3"),
                      x.grad() ? concat(x.grad().dtype(), " ") + shown(x.grad()) : "none");
    });
  }
}

/// What an optimizer has bound is written where it lies, and in its format.
void expect_bound(Judge& judge) {
  const Tensor x = vector_of({1}, DType::f16).set_requires_grad(true);
  const Tensor buffer = vector_of({-7});
  x.bind_grad(buffer);
  const auto pass = [&](std::vector<float> gradients) {
    Tape tape;
    tape.backward(
        record("t1", std::vector<Tensor>(gradients.size(), x), scalar(0), [&](const Tensor&, const Needs&) {
          std::vector<Tensor> handed;
          for (const float g : gradients) handed.push_back(vector_of({g}, DType::f16));
          return handed;
        }));
  };
  const auto expect_buffer = [&](float right, const char* after) {
    const bool there = x.grad() && x.grad().id() == buffer.id();
    judge.expect(there && buffer.item() == static_cast<double>(right), [&] {
      return std::string(
                 "x.bound_grad() is where an optimizer wants the gradient: written there (kernels::cast) the "
                 "first "
                 "time, added (kernels::accumulate) from then on.\n  an FP16 tensor whose buffer is FP32; ") +
             after + ":" + lines_of(decimal(right), there ? shown(buffer) : "x.grad() is another tensor");
    });
  };
  pass({3});
  expect_buffer(3, "-7 in the buffer, then a gradient of 3");
  pass({2048, 1});  // 2052 is no sum of halves
  expect_buffer(2052, "3 in the buffer, then 2048 and 1");
  x.clear_grad();
  pass({1, 5});
  expect_buffer(6, "clear_grad(), then 1 and 5");
}

/// Gradients that do not fit are refused, by the name of the op.
void expect_refused(Judge& judge) {
  const Tensor x = vector_of({1, 2}).set_requires_grad(true);
  const auto refuse = [&](const char* what, std::vector<Tensor> gradients) {
    std::string said = "no error";
    try {
      Tape tape;
      tape.backward(record("broken", {x}, scalar(0), [&](const Tensor&, const Needs&) { return gradients; }));
    } catch (const Error& error) {
      said = error.what();
    }
    x.clear_grad();
    judge.expect(said.find("broken") != std::string::npos, [&] {
      return std::string(
                 "A gradient that does not fit its tensor has to be refused with an Error that names the op: "
                 "else a wrong backward is found much later, or never.\n  op 'broken', one input f32(2), "
                 "gives ") +
             what + ":" + lines_of("an Error with 'broken' in it", said);
    });
  };
  refuse("no gradients", {});
  refuse("an empty gradient", {Tensor()});
  refuse("f32(3)", {vector_of({1, 2, 3})});
  refuse("f16(2)", {vector_of({1, 2}, DType::f16)});
  refuse("two gradients", {vector_of({1, 2}), vector_of({1, 2})});
}

struct Seen final : Observer {
  std::vector<std::string> said;
  void forward(const Op&, const std::vector<Tensor>&, const Tensor&) override {}
  void backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output,
                const Tensor& dy, const std::vector<Tensor>& gradients) override {
    const bool complete = output.requires_grad() && inputs.size() == gradients.size();
    said.push_back(op + ": dy " + shown(dy) + ", made " + shown(gradients.at(0)) + ", now " +
                   shown(inputs.at(0).grad()) + (complete ? "" : " (not its own inputs and gradients)"));
  }
};

/// t1 = 2 t0 twice, and one op that does not reach the loss.
void expect_observed(Judge& judge) {
  const Program p{{{}, {{0}, {2}}, {{1}, {7}}, {{1, 1}, {3, 5}}}, 3};
  Seen seen;
  run(p, &seen);
  const std::vector<std::string> right{"t3: dy 1, made 3, now 8", "t1: dy 8, made 16, now 16"};
  judge.expect(seen.said == right, [&] {
    std::string yours;
    for (const std::string& line : seen.said) yours += (yours.empty() ? "" : "; ") + line;
    return "The observer is told of each op that was run, after its gradients were added." + text(p) +
           lines_of(right[0] + "; " + right[1], yours.empty() ? "nothing" : yours);
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
  for (std::uint32_t seed = 0; seed < 400; ++seed) expect_gradients(judge, drawn(seed));
}

}  // namespace tinymp::exercise
