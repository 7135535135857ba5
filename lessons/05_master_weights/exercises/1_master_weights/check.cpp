// Exercise 5.1: steps of SGD and Adam, with weights, masters and moments in several formats. The oracle moves one
// weight at a time, by the formulas of optimizers.h. It computes each operation in double and rounds to float.

#include <kernels/formulas/optimizers.h>
#include <lessons/05_master_weights/exercises/1_master_weights/setting.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/numeric/dtype.h>
#include <array>
#include <bit>
#include <vector>

namespace tinymp::exercise {
namespace {

using kernels::UpdateCounts;
using enum DType;
using Floats = std::vector<float>;

struct Setting {
  DType weights = f16;
  bool has_master = true;  ///< false: the weights are the master
  DType copy = f32;        ///< the format of the master, if has_master
  DType gradients = f32, state = f32;
  float lr = 1, momentum = 0, decay = 0, factor = 1;

  DType master() const { return has_master ? copy : weights; }
};

/// All values of one weight.
struct Value {
  float master, weight, moment;
  bool operator==(const Value&) const = default;
};

float in(DType format, float x) {
  if (format == f16) return static_cast<float>(half(x));
  if (format == bf16) return static_cast<float>(bfloat16(x));
  return x;
}
float times(float a, float b) { return static_cast<float>(static_cast<double>(a) * static_cast<double>(b)); }
float plus(float a, float b) { return static_cast<float>(static_cast<double>(a) + static_cast<double>(b)); }

/// The right step, and common mistakes.
enum class Way : std::uint8_t {
  right,
  nothing_moves,
  copy_moves,
  copy_stays,
  copy_moves_alone,
  master_stays,
  update_rounded,
  master_rounded,
  gradient_scaled,
  moments_forgotten,
  moments_not_kept,
  moments_after,
  decay_of_copy,
};
constexpr std::array says{
    "",
    "Your code moves nothing: master and weights keep their old bits.",
    "Your code computes the new master from the rounded weights, so each step loses what the rounding cut "
    "off. Compute the new master from the old master: a step never reads the rounded weights.",
    "Your code moves the master, but the weights are not updated, or they hold the previous master: round "
    "the new master into the weights.",
    "Your code updates the weights without the master, so the two drift apart: round the new master.",
    "Your code does not store `next` into the master. Only an FP32 master has it already: call store().",
    "Your code rounds the update to the model's format: an FP32 master needs the update unrounded.",
    "Your code keeps only the digits of the model's format in the master. Keep the master in FP32. Round "
    "only the weights.",
    "Your code uses gradients that are still multiplied by S: multiply them by `factor`.",
    "Your code starts the momentum from 0 in every step: load the old moments.",
    "Your code moves the moments and does not store them: the next step needs the new moments.",
    "Your code computes the update from the old moments: move the moments first.",
    "Your code computes weight decay from the rounded weight: weight decay must use the master.",
};

struct Moved {
  Value value;
  UpdateCounts lost;
};

Moved move(const Setting& s, Value v, float gradient, Way way) {
  const float kept = way == Way::moments_forgotten ? 0 : v.moment;
  const float start = way == Way::copy_moves ? v.weight : v.master;
  const float g = way == Way::gradient_scaled ? gradient : times(gradient, s.factor);
  const float d = plus(g, times(s.decay, way == Way::decay_of_copy ? v.weight : start));
  const float moment = s.momentum != 0 ? in(s.state, plus(times(s.momentum, kept), d)) : v.moment;
  const float exact = times(s.lr, s.momentum == 0 ? d : way == Way::moments_after ? v.moment : moment);
  const float update = in(way == Way::update_rounded ? s.weights : s.master(), exact);
  const float next = in(way == Way::master_rounded ? s.weights : s.master(), plus(start, -update));
  Moved result{{next, in(s.weights, next), moment},
               {.values = exact != 0,
                .underflowed = exact != 0 && update == 0,
                .absorbed = update != 0 && next == start}};
  if (way == Way::nothing_moves) result.value = v;
  if (way == Way::copy_stays) result.value.weight = v.weight;
  if (way == Way::copy_moves_alone) result.value.weight = in(s.weights, plus(v.weight, -update));
  if (way == Way::master_stays) result.value.master = v.master;
  if (way == Way::moments_not_kept) result.value.moment = v.moment;
  return result;
}

std::string shown(const Setting& s, const Value& v) {
  std::string text =
      (s.has_master ? "master " + decimal(v.master) + ", weight " : "weight ") + decimal(v.weight);
  if (s.weights == f16) text += " (" + half_fields(half(v.weight).bits()) + ")";
  return text + (s.momentum != 0 ? ", momentum " + decimal(v.moment) : "");
}

std::string name(DType format) { return std::string(name_of(format)); }

std::string shown(const Setting& s) {
  return name(s.weights) + " weights, " + (s.has_master ? name(s.copy) + " master" : "no master") + ", " +
         name(s.gradients) + " gradients" + (s.momentum != 0 ? ", " + name(s.state) + " momentum" : "") +
         "; lr " + decimal(s.lr) + ", momentum " + decimal(s.momentum) + ", decay " + decimal(s.decay) +
         ", factor " + decimal(s.factor);
}

constexpr const char* unset = "\nIs b.moments[k] set for each k? move_weights reads b.moments[k].";

/// Holds the right values of the arenas. step() asks the submission for one step and compares the values.
class Trial {
 public:
  Trial(const Setting& setting, const Floats& masters) : s_(setting) {
    for (const float x : masters) {
      const float master = in(s_.master(), x);
      values_.push_back({master, in(s_.weights, master), 0});
    }
  }

  void step(Judge& judge, const Floats& gradients) {
    UpdateCounts right;
    std::vector<Value> before = values_;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Moved moved = move(s_, before[i], in(s_.gradients, gradients[i]), Way::right);
      values_[i] = moved.value;
      right += moved.lost;
    }
    Message reply = ask(judge, before, gradients);
    const std::size_t n = before.size();
    const auto masters = reply.all<float>(n), weights = reply.all<float>(n), moments = reply.all<float>(n);
    UpdateCounts yours;
    yours.values = reply.take<std::int64_t>();
    yours.underflowed = reply.take<std::int64_t>();
    yours.absorbed = reply.take<std::int64_t>();
    for (std::size_t i = 0; i < values_.size(); ++i) {
      const Value found{masters[i], weights[i], moments[i]};
      judge.expect(found == values_[i],
                   [&] { return report(before[i], in(s_.gradients, gradients[i]), found, i); });
    }
    judge.expect(yours.values == right.values && yours.underflowed == right.underflowed &&
                     yours.absorbed == right.absorbed,
                 [&] {
                   return "Your code moves the weights correctly, but returns wrong counts. Return what "
                          "move_weights counted: updates that are not 0, underflowed, absorbed.\n  " +
                          shown(s_) + "\n  expected = " + counted(right) + "\n  yours    = " + counted(yours);
                 });
  }

 private:
  /// Asks the submission for one step that begins with the values `before`.
  Message ask(Judge& judge, const std::vector<Value>& before, const Floats& gradients) const {
    const auto number = [](DType format) { return static_cast<std::int32_t>(format); };
    Floats masters, weights, moments;
    for (const Value& value : before) {
      masters.push_back(value.master);
      weights.push_back(value.weight);
      moments.push_back(value.moment);
    }
    Message request;
    request.put(std::uint64_t{0});
    request.put(Step{number(s_.weights), s_.has_master ? 1 : 0, number(s_.copy), number(s_.gradients),
                     number(s_.state), s_.lr, s_.momentum, s_.decay, s_.factor});
    request.put_all(masters).put_all(weights).put_all(moments).put_all(gradients);
    return judge.ask(request, [&] {
      return "One step of " + std::to_string(before.size()) + " weights: " + shown(s_) +
             (s_.momentum != 0 ? unset : "");
    });
  }

  static std::string counted(const UpdateCounts& c) {
    return std::to_string(c.values) + ", " + std::to_string(c.underflowed) + ", " +
           std::to_string(c.absorbed);
  }

  std::string report(const Value& before, float g, const Value& yours, std::size_t i) const {
    std::string why = "Your code gives a wrong value: compare the expected values with yours.";
    for (std::size_t way = 1; way < says.size(); ++way) {
      if (move(s_, before, g, static_cast<Way>(way)).value != yours) continue;
      why = says[way];
      break;
    }
    if (i >= 1024)
      why = "Your code is right for one block. At weight 1024 another block begins: use `begin`.";
    return why + "\n  " + shown(s_) + "\n  weight   " + std::to_string(i) + " of " +
           std::to_string(values_.size()) + "\n  before   = " + shown(s_, before) +
           "\n  gradient = " + decimal(g) + "\n  expected = " + shown(s_, values_[i]) +
           "\n  yours    = " + shown(s_, yours);
  }

  Setting s_;
  std::vector<Value> values_;
};

/// Returns a random number between -1 and 1, times a random power of two: 2^smallest to 2^(largest - 1).
float drawn(Judge& judge, int smallest, int largest) {
  const std::uint64_t dice = judge.draw();
  const int power = smallest + static_cast<int>((dice >> 20) % static_cast<unsigned>(largest - smallest));
  const auto x = static_cast<float>(static_cast<std::int32_t>(dice >> 32)) * 0x1p-31f;
  return x * std::bit_cast<float>(static_cast<std::uint32_t>(127 + power) << 23);
}

void steps(Judge& judge, const Setting& setting, std::size_t n, int count) {
  Floats masters(n), gradients(n);
  for (float& x : masters) x = drawn(judge, -6, 3);
  Trial trial(setting, masters);
  for (int t = 0; t < count; ++t) {
    for (float& x : gradients)
      x = judge.draw_below(7) == 0 ? drawn(judge, -24, -10) * 0 : drawn(judge, -14, 4);
    trial.step(judge, gradients);
  }
}

/// Trials of one weight: updates of several sizes, the example of lesson 05 (u = 2^-13), each part of a step alone.
void by_hand(Judge& judge) {
  Trial large({}, {1}), small({}, {1});
  for (const float update : {0.1f, 0x1.234p-7f, -0x1.8p-26f}) large.step(judge, {update});
  for (int t = 0; t < 5; ++t) small.step(judge, {0x1p-13f});
  Trial scaled({.factor = 0x1p-10f}, {1});
  for (int t = 0; t < 3; ++t) scaled.step(judge, {0.3f});
  for (const DType state : {f32, f16}) {
    Trial momentum({.state = state, .momentum = 0.9f}, {1});
    for (int t = 0; t < 4; ++t) momentum.step(judge, {0x1p-10f});
  }
  Trial decay({.lr = 0.1f, .decay = 0.01f}, {1.0003f});
  for (int t = 0; t < 4; ++t) decay.step(judge, {0});
  Trial narrow({.copy = bf16}, {1});  // a useless master, but the weights must be the rounded master
  for (const float update : {0x1.04p-3f, 0.25f}) narrow.step(judge, {update});
  Trial alone({.has_master = false}, {1});
  for (const float update : {0x1p-13f, 0x1p-26f, 0.25f}) alone.step(judge, {update});
}

/// Adam has two moments. The library's rule gives the expected values.
void two_moments(Judge& judge, DType state_format, std::size_t n) {
  const auto rule = kernels::adam_rule<true>(0.9, 0.999, 1e-8f, 0.01f);
  kernels::StepState state{.steps = 3, .lr = 0.01f};
  rule.begin(state);
  Floats masters(n), gradients(n), first(n), second(n);
  for (std::size_t i = 0; i < n; ++i) {
    masters[i] = drawn(judge, -6, 3);
    gradients[i] = drawn(judge, -8, 2);
    first[i] = in(state_format, drawn(judge, -8, 0));
    second[i] = in(state_format, 0x1p-8f + (i % 2 == 0 ? 0x1p-9f : 0));
  }
  Message request;
  request.put(std::uint64_t{1}).put(static_cast<std::int32_t>(state_format));
  request.put_all(masters).put_all(gradients).put_all(first).put_all(second);
  Message reply = judge.ask(request, [&] { return "Adam, " + std::to_string(n) + " weights." + unset; });
  const auto master_now = reply.all<float>(n), m0_now = reply.all<float>(n), m1_now = reply.all<float>(n);
  for (std::size_t i = 0; i < n; ++i) {
    float m[2] = {first[i], second[i]};
    rule.moments(masters[i], gradients[i], m);
    for (float& moment : m) moment = in(state_format, moment);
    const float right = masters[i] - rule.update(masters[i], gradients[i], m, state);
    const bool moments_right = m[0] == m0_now[i] && m[1] == m1_now[i];
    judge.expect(master_now[i] == right && moments_right, [&] {
      return "Your code is right for SGD, which has one moment. Adam has arenas.moments[0] and [1]: one of "
             "the two is wrong, or the update did not use it.\n  Adam, moments in " +
             name(state_format) + ", weight " + std::to_string(i) + "\n  expected = moments " +
             decimal(m[0]) + ", " + decimal(m[1]) + ", master " + decimal(right) + "\n  yours    = moments " +
             decimal(m0_now[i]) + ", " + decimal(m1_now[i]) + ", master " + decimal(master_now[i]);
    });
  }
}

}  // namespace

void check(Judge& judge) {
  by_hand(judge);
  for (const DType state : {f32, f16}) two_moments(judge, state, 3);
  for (const std::size_t n : {7u, 1023u, 1024u, 1031u, 20'011u}) {
    for (const DType weights : {f16, bf16, f32}) {
      for (const bool has_master : {true, false}) {
        if (weights == f32 && has_master) continue;
        Setting s{.weights = weights, .has_master = has_master, .lr = 0.01f, .decay = 0.05f, .factor = 0.37f};
        s.gradients = n % 2 == 0 ? f32 : weights;
        steps(judge, s, n, 2);
        s.momentum = 0.9f;
        for (const DType state : {f32, f16}) {
          s.state = state;
          steps(judge, s, n, 3);
        }
      }
    }
  }
  for (const DType state : {f32, f16}) two_moments(judge, state, 2055);
}

}  // namespace tinymp::exercise
