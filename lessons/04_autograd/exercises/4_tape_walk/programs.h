#pragma once

#include <lessons/classroom/judge.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <memory>
#include <optional>

/// What the tape of exercise 4.4 is tried with: programs of sums with whole factors, and how far their loss
/// moves.
namespace tinymp::exercise {
namespace {

constexpr int no_leaf = -1;

/// A line of a program: y = factor in + factor in + ...; a leaf has none. Numbers are places in the program.
struct Line {
  std::vector<int> in;
  std::vector<int> factors;
};
struct Program {
  std::vector<Line> lines;
  int loss;
  int data = no_leaf;      ///< a leaf that wants no gradient
  bool always_all = true;  ///< ops give a gradient for that leaf, too
};

std::string name(int i) { return "t" + std::to_string(i); }

std::string text(const Program& p) {
  std::string all;
  for (int i = 0; i < static_cast<int>(p.lines.size()); ++i) {
    const Line& line = p.lines[static_cast<std::size_t>(i)];
    all += "\n  " + name(i) + " = ";
    if (line.in.empty()) all += i == p.data ? "data, requires no gradient" : "a leaf";
    for (std::size_t k = 0; k < line.in.size(); ++k)
      all += (k > 0 ? " + " : "") + std::to_string(line.factors[k]) + " " + name(line.in[k]);
    if (i == p.loss) all += "   the loss";
  }
  return all;
}

bool is_leaf(const Program& p, int i) { return p.lines[static_cast<std::size_t>(i)].in.empty(); }

/// How far the loss moves when leaf `moved` moves by 1.
int slope(const Program& p, int moved) {
  std::vector<int> by(p.lines.size());
  for (std::size_t i = 0; i < p.lines.size(); ++i) {
    by[i] = static_cast<int>(i) == moved ? 1 : 0;
    for (std::size_t k = 0; k < p.lines[i].in.size(); ++k)
      by[i] += p.lines[i].factors[k] * by[static_cast<std::size_t>(p.lines[i].in[k])];
  }
  return by[static_cast<std::size_t>(p.loss)];
}

/// Whether a line has a part in the loss.
std::vector<bool> reaching(const Program& p) {
  std::vector<bool> reaches(p.lines.size());
  reaches[static_cast<std::size_t>(p.loss)] = true;
  for (int i = p.loss; i >= 0; --i)
    for (const int in : p.lines[static_cast<std::size_t>(i)].in)
      if (reaches[static_cast<std::size_t>(i)]) reaches[static_cast<std::size_t>(in)] = true;
  return reaches;
}

Tensor vector_of(std::initializer_list<float> values, DType dtype = DType::f32) {
  return Tensor::from({static_cast<std::int64_t>(values.size())}, std::vector<float>(values), dtype);
}
Tensor scalar(float value) { return Tensor::from({}, std::vector<float>{value}); }

Tensor times(float factor, const Tensor& dy) {
  std::vector<float> values = dy.to_floats();
  for (float& v : values) v *= factor;
  return Tensor::from(dy.shape(), values, dy.dtype());
}

/// What happened while a program ran backwards.
struct Trace {
  std::vector<int> order;                ///< the ops that were run
  std::vector<std::weak_ptr<int>> kept;  ///< by each line's backward, null for leaves
  std::vector<Tensor> tensors;
  bool without_gradient = false;  ///< an op was run with an empty dy
  bool wrong_needs = false;
  int not_freed = no_leaf;  ///< was still there when an older op ran
  std::optional<std::string> threw;
  std::size_t left = 0;  ///< lines on the tape at the end
};

/// Line i as an op. With a factor of 1 it hands on dy itself, as `add` does.
Tensor record_line(const Program& p, int i, Trace& trace) {
  const Line& line = p.lines[static_cast<std::size_t>(i)];
  std::vector<Tensor> inputs;
  for (const int in : line.in) inputs.push_back(trace.tensors[static_cast<std::size_t>(in)]);
  auto kept = std::make_shared<int>(i);
  trace.kept.push_back(kept);
  return record(name(i), inputs, scalar(0), [&p, &trace, kept, i](const Tensor& dy, const Needs& needs) {
    const Line& self = p.lines[static_cast<std::size_t>(i)];
    trace.order.push_back(i);
    trace.without_gradient |= !dy;
    for (std::size_t later = static_cast<std::size_t>(i) + 1; later < trace.kept.size(); ++later)
      if (!trace.kept[later].expired()) trace.not_freed = static_cast<int>(later);
    std::vector<Tensor> gradients;
    for (std::size_t k = 0; k < self.in.size(); ++k) {
      trace.wrong_needs |= needs(k) != trace.tensors[static_cast<std::size_t>(self.in[k])].requires_grad();
      const bool hand = p.always_all || self.in[k] != p.data;
      const Tensor from = dy ? dy : scalar(0);
      gradients.push_back(!hand                  ? Tensor()
                          : self.factors[k] == 1 ? from
                                                 : times(static_cast<float>(self.factors[k]), from));
    }
    return gradients;
  });
}

Trace run(const Program& p, Observer* observer = nullptr) {
  Trace trace;
  Tape tape(observer);
  for (int i = 0; i < static_cast<int>(p.lines.size()); ++i) {
    if (is_leaf(p, i)) {
      trace.tensors.push_back(scalar(0).set_requires_grad(i != p.data));
      trace.kept.emplace_back();
    } else {
      trace.tensors.push_back(record_line(p, i, trace));
    }
  }
  try {
    tape.backward(trace.tensors[static_cast<std::size_t>(p.loss)]);
  } catch (const std::exception& error) {
    trace.threw = error.what();
  }
  trace.left = tape.size();
  return trace;
}

/// Programs by chance: some lines do not reach the loss, tensors are used many times.
Program drawn(std::uint32_t seed) {
  const auto below = [&seed](int n) {
    seed = seed * 1664525 + 1013904223;
    return static_cast<int>(seed >> 16) % n;
  };
  Program p{{{}, {}, {}}, 0, below(4) - 1, below(2) == 0};
  const int lines = 5 + below(6);
  for (int i = 3; i < lines; ++i) {
    Line line;
    for (int k = 0; k < 1 + below(3); ++k) {
      line.in.push_back(below(i));
      line.factors.push_back(std::array{1, 2, 3, -1, -2}[static_cast<std::size_t>(below(5))]);
    }
    if (std::ranges::all_of(line.in, [&](int in) { return in == p.data; })) line.in[0] = (p.data + 1) % 3;
    p.lines.push_back(line);
  }
  p.loss = lines - 1 - below(2);
  return p;
}

}  // namespace
}  // namespace tinymp::exercise
