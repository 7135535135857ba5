#pragma once

#include <lessons/04_autograd/exercises/4_tape_walk/oracle.h>
#include <lessons/04_autograd/exercises/4_tape_walk/programs.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/numeric/dtype.h>
#include <string>
#include <vector>

/// What comes back to the judge of exercise 4.4.
namespace tinymp::exercise {
namespace {

/// A tensor that came back.
struct Values {
  int format;  ///< -1: there is none
  std::vector<float> all;

  bool there() const { return format >= 0; }
  bool are(const std::vector<float>& right) const { return there() && all == right; }
  bool is(int right) const { return are({static_cast<float>(right)}); }
};
Values take_values(Message& reply) {
  const int format = reply.take<int>();
  if (format < -1 || format >= static_cast<int>(std::size(format_table))) throw Malformed("a format is none");
  return {format, reply.take_all<float>()};
}

std::string shown(const std::vector<float>& values) {
  std::string all;
  for (const float v : values) all += (all.empty() ? "" : " ") + decimal(v);
  return all;
}
std::string shown(const Values& x) { return x.there() ? shown(x.all) : "none"; }

/// What an observer was told of one op.
struct Seen {
  std::string op;
  bool complete;
  Values dy, made, now;
};
struct Run {
  Trace trace;
  std::vector<int> order;
  std::string threw;
  std::vector<Values> gradients;
  std::vector<Seen> seen;
};

Run run(Judge& judge, const Program& p, bool observed = false) {
  Message request;
  request.put(Asked::program);
  put(request, p);
  Message reply = judge.ask(request.put(observed ? 1 : 0), [&] { return "The program:" + text(p); });
  Run run{reply.take<Trace>(), reply.take_all<int>(), reply.text(), {}, {}};
  for (const int i : run.order)
    if (i < 0 || i >= std::ssize(p.lines)) throw Malformed("an op is none of the program");
  for (std::size_t i = 0; i < p.lines.size(); ++i) run.gradients.push_back(take_values(reply));
  const auto times = reply.take<std::int64_t>();
  Message told(reply.take_all<std::byte>());
  for (std::int64_t i = 0; i < times; ++i) {
    Seen seen{told.text(), told.take<int>() != 0, {}, {}, {}};
    for (Values* const x : {&seen.dy, &seen.made, &seen.now}) *x = take_values(told);
    run.seen.push_back(seen);
  }
  return run;
}

}  // namespace
}  // namespace tinymp::exercise
