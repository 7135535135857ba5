#pragma once

#include <lessons/09_autocast/exercises/2_cast_once/actions.h>
#include <lessons/lab/classroom/judge.h>
#include <string>
#include <vector>

/// With what the judge of exercise 9.2 asks.
namespace tinymp::exercise {
namespace {

using Answers = std::vector<Answer>;

/// Actions, one after another. Tensors have numbers, and so have answers.
class Script {
 public:
  void region(DType format) { add({.what = What::region, .format = format}); }
  void tape() { add({.what = What::tape}); }
  void end_tape() { add({.what = What::end_tape}); }
  std::uint32_t parameter(float value, DType format = DType::f32) {
    add({.what = What::parameter, .value = value, .format = format});
    return tensors_++;
  }
  std::uint32_t data(float value) {
    add({.what = What::data, .value = value});
    return tensors_++;
  }
  std::uint32_t activation(std::uint32_t of) {
    add({.what = What::activation, .of = of});
    return tensors_++;
  }
  std::size_t product(std::uint32_t of) { return add({.what = What::product, .of = of}); }
  std::size_t exp(std::uint32_t of) { return add({.what = What::exp, .of = of}); }
  void passing(float value) { add({.what = What::passing, .value = value}); }
  void step(std::uint32_t of, float value) { add({.what = What::step, .of = of, .value = value}); }

  Answers ask(Judge& judge) const {
    return judge.ask(Message().put(Asked::actions).put_all(actions_)).take_all<Answer>(actions_.size());
  }

 private:
  std::size_t add(const Action& action) {
    actions_.push_back(action);
    return actions_.size() - 1;
  }

  std::vector<Action> actions_;
  std::uint32_t tensors_ = 0;
};

std::string name_of_answer(std::int32_t format) {
  if (format < 0 || format >= static_cast<std::int32_t>(std::size(format_table))) return "no tensor";
  return std::string(name_of(static_cast<DType>(format)));
}

std::string lines(const std::string& what, const std::string& right, const std::string& yours) {
  return "\n  " + what + "\n  expected = " + right + "\n  yours    = " + yours;
}

/// From 0.1 to 0.9, and no half.
float drawn_fraction(Judge& judge) { return static_cast<float>(1 + judge.draw_below(9)) / 10 + 0x1p-20f; }
float drawn_whole(Judge& judge) { return static_cast<float>(1 + judge.draw_below(100)); }

}  // namespace
}  // namespace tinymp::exercise
