#pragma once

#include <lessons/lab/classroom/message.h>
#include <cstdint>
#include <string>
#include <vector>

/// What the tape of exercise 4.4 is tried with: programs of sums with whole factors, and what is asked.
namespace tinymp::exercise {

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

inline std::string name(int i) { return "t" + std::to_string(i); }
inline bool is_leaf(const Program& p, int i) { return p.lines[static_cast<std::size_t>(i)].in.empty(); }

inline void put(Message& message, const Program& p) {
  message.put(p.loss).put(p.data).put(p.always_all ? 1 : 0).put(p.lines.size());
  for (const Line& line : p.lines) message.put_all(line.in).put_all(line.factors);
}
inline Program take_program(Message& message) {
  Program p;
  p.loss = message.take<int>();
  p.data = message.take<int>();
  p.always_all = message.take<int>() != 0;
  p.lines.resize(message.take<std::size_t>());
  for (Line& line : p.lines) {
    line.in = message.take_all<int>();
    line.factors = message.take_all<int>();
  }
  return p;
}

/// What is asked, and behind it in the request:
///   program       a Program; the answer is a Trace
///   accumulated   the gradients of two passes; what x has after the first, after the second, and what the
///                 tensor holds then that it had after the first
///   format        a DType and a tensor; three of it are its gradient
///   bound         what the buffer holds, and three passes; for each, is it x.grad(), and what it holds
///   refused       a Broken, and what the op is called; what was said
enum class Asked : std::uint64_t { program, accumulated, format, bound, refused };

enum class Broken : std::uint64_t { none, empty, longer, narrower, two };

/// What happened while a program ran backwards; behind it the ops in the order in which they ran, what was
/// thrown, a gradient for each line, and what an observer was told.
struct Trace {
  std::int64_t threw, wrong_needs;
  std::int64_t not_freed;  ///< was still there when an older op ran; or no_leaf
  std::int64_t left;       ///< lines on the tape at the end
};

}  // namespace tinymp::exercise
