// Exercise 9.2: copies of parameters, over tapes, steps and regions. What is right is known: which answers
// are one tensor, how many copies were made, and small whole numbers as gradients.

#include <lessons/classroom/judge.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/ops/ops.h>
#include <string>
#include <vector>

namespace tinymp::exercise {
namespace {

using enum DType;

Tensor scalar(float value, DType format = f32) {
  return Tensor::from({1, 1}, std::vector<float>{value}, format);
}
Tensor parameter(float value, DType format = f32) { return scalar(value, format).set_requires_grad(true); }

/// What matmul gets for w, and exp for x.
Tensor product_gets(const Tensor& w) {
  const Tensor x = scalar(1, f32);
  const Tensor* const operands[]{&x, &w};
  const Recast as = cast_policy()->recast("matmul", operands);
  return as ? as[1] : w;
}
Tensor exp_gets(const Tensor& x) {
  const Tensor* const operands[]{&x};
  const Recast as = cast_policy()->recast("exp", operands);
  return as ? as[0] : x;
}

std::string lines(const std::string& what, const std::string& right, const std::string& yours) {
  return "\n  " + what + "\n  expected = " + right + "\n  yours    = " + yours;
}

void expect_made(Judge& judge, const Autocast& region, std::int64_t right, const char* why,
                 const char* what) {
  const std::int64_t yours = region.casts_of_parameters();
  judge.expect(yours == right, [&] {
    return why + lines(what, std::to_string(right) + " copies made", std::to_string(yours) + " copies made");
  });
}

void expect_value(Judge& judge, const Tensor& copy, float right, DType format, const char* why,
                  const char* what) {
  const float yours = copy.to_floats()[0];
  judge.expect(yours == right && copy.dtype() == format, [&] {
    return why + lines(what, std::string(name_of(format)) + " " + decimal(right),
                       std::string(name_of(copy.dtype())) + " " + decimal(yours));
  });
}

void expect_same(Judge& judge, bool same, const Tensor& a, const Tensor& b, const char* why,
                 const char* what) {
  judge.expect((a.id() == b.id()) == same, [&] {
    return why + lines(what, same ? "one tensor" : "two tensors", same ? "two tensors" : "one tensor");
  });
}

void used_twice(Judge& judge) {
  const Autocast region(f16);
  const Tensor w = parameter(0.1f), v = parameter(0.2f);
  const Tape tape;
  const Tensor first = product_gets(w), other = product_gets(v), second = product_gets(w);
  const float tenth = static_cast<float>(half(0.1f)), fifth = static_cast<float>(half(0.2f));
  expect_value(judge, first, tenth, f16, "The copy is not the parameter, rounded.", "a weight of 0.1");
  expect_same(judge, true, first, second,
              "The second use of a parameter got a copy of its own: one cast is enough.",
              "a weight used twice under one tape");
  expect_value(judge, other, fifth, f16, "Another parameter got the copy of the first.",
               "a second weight, 0.2");
  expect_made(judge, region, 2, "`made` is to count the copies.", "two weights, three uses");
}

void changed(Judge& judge) {
  const Autocast region(f16);
  const Tensor w = parameter(3);
  const Tape tape;
  product_gets(w);
  w.data<float>()[0] = 2;
  parameters_changed();
  expect_value(
      judge, product_gets(w), 2, f16,
      "The copy is from before the optimizer's step: the model computes with the weights of yesterday.",
      "a weight of 3, after a step 2");
  expect_made(judge, region, 2, "One copy before the step and one after it.", "a use, a step, a use");
}

/// w.grad() of x1 w + x2 w + ..., by parts.
void gradient(Judge& judge, const std::vector<float>& parts, float right) {
  const Autocast region(f16);
  const Tensor w = parameter(1);
  for (int round = 1; round <= 2; ++round) {
    Tape tape;
    std::vector<Tensor> terms;
    for (const float part : parts) terms.push_back(matmul(scalar(part), w));
    Tensor total = sum(terms[0]);
    for (std::size_t i = 1; i < terms.size(); ++i) total = add(total, sum(terms[i]));
    w.clear_grad();
    judge.expect(total.requires_grad(), [&] {
      return "No gradient comes back to the parameter: its copy is to be recorded on the tape." +
             lines("a use of a weight", "gradient " + decimal(right), "none");
    });
    try {
      tape.backward(total);
    } catch (const std::exception& error) {
      judge.fail(
          std::string("Backward could not go through the copy: its gradient comes back in FP16, and the "
                      "parameter is FP32. It wants a buffer in the parameter's format.") +
          lines(error.what(), "gradient " + decimal(right) + " in f32", "none"));
    }
    const Tensor found = w.grad();
    const std::string what =
        std::to_string(parts.size()) + " uses of a weight, step " + std::to_string(round);
    judge.expect(bool(found), [&] {
      return (round == 1
                  ? "No gradient comes back to the parameter: its copy is to be recorded on the tape."
                  : "No gradient comes back in the second step: its copy was recorded on the first tape, "
                    "which is gone. Another tape wants another copy.") +
             lines(what, "gradient " + decimal(right), "none");
    });
    judge.expect(found.to_floats()[0] == right && found.dtype() == f32, [&] {
      return "The gradients of the uses were added up in FP16, where 2048 + 1 is 2048: they want a buffer in "
             "the parameter's format." +
             lines(what + (parts.size() > 1 ? ": 1, 2048, 1" : ""), "gradient " + decimal(right),
                   "gradient " + decimal(found.to_floats()[0]));
    });
  }
  expect_made(judge, region, 2, "A copy is good under one tape.", "two steps, each with a tape");
}

void not_kept(Judge& judge) {
  const Autocast region(f16);
  const Tape tape;
  const Tensor w = parameter(1), x = scalar(0.1f), y = scale(w, 2);
  expect_same(judge, false, product_gets(x), product_gets(x),
              "A tensor that wants no gradient was kept: images change with each batch, and would be held.",
              "data, used twice");
  expect_same(judge, false, product_gets(y), product_gets(y),
              "An activation was kept: it is no leaf, and the next batch has others.",
              "an activation, used twice");
  const Tensor narrow = parameter(0.5f, f16);
  expect_value(judge, exp_gets(narrow), 0.5f, f32, "A parameter for an op in FP32 came in another format.",
               "an FP16 weight under exp");
  expect_same(judge, false, exp_gets(narrow), exp_gets(narrow),
              "Kept are copies in the region's format; one in FP32 is cast anew.",
              "an FP16 weight under exp, twice");
  expect_same(judge, true, product_gets(narrow), narrow, "It has the format already: no copy.",
              "an FP16 weight");
  expect_made(judge, region, 0, "`made` counts copies of parameters that are kept.",
              "data, an activation, exp");
}

void tapes(Judge& judge) {
  const Autocast region(f16);
  const Tensor w = parameter(1);
  const Tensor none = product_gets(w);
  expect_same(judge, true, none, product_gets(w), "Without a tape, too, one copy is enough.",
              "a weight used twice, no tape");
  Tape outer;
  const Tensor first = product_gets(w);
  expect_same(judge, false, none, first,
              "A copy from before the tape has no gradient: the tape wants another.",
              "a use before the tape, and one under it");
  {
    const Tape inner;
    expect_same(judge, false, first, product_gets(w), "A copy is good under one tape.",
                "a tape inside a tape");
  }
  expect_same(judge, true, product_gets(w), product_gets(w), "After the inner tape one copy is enough again.",
              "behind the inner tape, twice");
  expect_made(judge, region, 4, "A copy for each change of tape.", "none, outer, inner, outer");
  const Autocast same(f16);
  product_gets(w);
  expect_made(judge, same, 4, "A region of the same format shares the copies.", "a region inside");
  const Autocast other(bf16);
  expect_value(judge, product_gets(w), 1, bf16, "The inner region has another format, and copies of its own.",
               "bf16");
  expect_made(judge, other, 1, "The inner region has another format, and copies of its own.", "bf16");
}

/// What a weight's copies are before there was any tape, and under the first one, whose number is 1.
std::pair<Tensor, Tensor> around_the_first_tape() {
  const Autocast region(f16);
  const Tensor w = parameter(1), none = product_gets(w);
  const Tape first;
  return {none, product_gets(w)};
}

/// A parameter that is gone leaves its place in memory to the next one. (A tape would hold it.)
void gone(Judge& judge) {
  const Autocast region(f16);
  for (int i = 1; i <= 200; ++i) {
    const auto value = static_cast<float>(i);
    expect_value(
        judge, product_gets(parameter(value)), value, f16,
        "A new parameter got the copy of one that is gone: hold the parameter beside its copy, or its id "
        "is given to another.",
        "weights that come and go");
  }
}

}  // namespace

void check(Judge& judge) {
  const auto [none, first] = around_the_first_tape();
  not_kept(judge);
  used_twice(judge);
  changed(judge);
  gradient(judge, {5}, 5);
  gradient(judge, {1, 2048, 1}, 2050);
  tapes(judge);
  expect_same(judge, false, none, first, "Without a tape the number is 0, which no tape has.",
              "a use before the first tape of all, and one under it");
  gone(judge);
}

}  // namespace tinymp::exercise
