#pragma once

#include <lessons/04_autograd/exercises/4_tape_walk/programs.h>
#include <lessons/lab/classroom/judge.h>
#include <algorithm>
#include <array>

/// What the judge of exercise 4.4 knows of a program: how far its loss moves.
namespace tinymp::exercise {
namespace {

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

/// Programs by chance: some lines do not reach the loss, tensors are used many times.
Program drawn(Judge& judge, int lines) {
  const auto below = [&](int n) { return static_cast<int>(judge.draw_below(n)); };
  Program p{{{}, {}, {}}, 0};
  p.data = below(4) - 1;
  p.always_all = below(2) == 0;
  for (int i = 3; i < lines; ++i) {
    Line line;
    for (int k = 0, most = 1 + below(3); k < most; ++k) {
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
