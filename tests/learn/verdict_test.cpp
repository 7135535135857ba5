#include <lessons/05_master_weights/small_updates.h>
#include <lessons/06_loss_scaling/small_gradients.h>
#include <tests/catch.h>

#include <limits>
#include <string>

// The verdicts are sentences about figures. Each is asked for figures of both kinds, and for none.
namespace {

using namespace tinymp::lab;

constexpr double no_number = std::numeric_limits<double>::quiet_NaN();

bool begins(const std::string& text, const std::string& beginning) { return text.rfind(beginning, 0) == 0; }
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

SmallUpdates updates(double fp32, double weights, double master) {
  return {.fp32 = {fp32}, .fp16_weights = {weights}, .fp16_master = {master}};
}

SmallGradients gradients(double fp32, double unscaled, double fixed, double dynamic) {
  return {.fp32 = {fp32}, .unscaled = {unscaled}, .static_scaled = {fixed}, .dynamic_scaled = {dynamic}};
}

}  // namespace

TEST_CASE("small updates: no, when FP16 weights fall behind and a master does not") {
  SmallUpdates measured = updates(75.4, 45.2, 75.3);
  measured.lost = 0.72;
  const std::string text = verdict_on(measured);
  INFO(text);
  CHECK(begins(text, "No: "));
  CHECK(says(text, "45.2 %, 30.2 points below FP32's 75.4 %"));
  CHECK(says(text, "72 % of the updates"));
  CHECK(says(text, "restores the accuracy: 75.3 %"));
}

TEST_CASE("small updates: yes, when FP16 weights keep up, or are better") {
  for (const double weights : {75.4, 75.0, 80.0}) {
    const std::string text = verdict_on(updates(75.4, weights, 75.4));
    INFO(text);
    CHECK(begins(text, "Yes, here: "));
    CHECK_FALSE(says(text, "restores"));
    CHECK_FALSE(says(text, "below"));
  }
}

TEST_CASE("small updates: in part, between the two") {
  CHECK(begins(verdict_on(updates(75.4, 72.4, 75.4)), "In part: "));
}

TEST_CASE("small updates: a master that does not help is not praised") {
  CHECK(says(verdict_on(updates(75, 45, 60)), "restores a part of the accuracy: 60.0 %"));
  CHECK(says(verdict_on(updates(75, 45, 40)), "does not help: 40.0 %"));
  CHECK(says(verdict_on(updates(75, 45, no_number)), "does not help: NaN."));
  CHECK_FALSE(says(verdict_on(updates(75, 45, no_number)), "restores"));
  CHECK(says(verdict_on(updates(75, no_number, no_number)), "does not help: NaN."));
  CHECK(says(verdict_on(updates(75, 75, 60)), "does not help: 60.0 %"));
}

TEST_CASE("small updates: NaN and nothing") {
  CHECK(begins(verdict_on(updates(75, no_number, 75)), "No: with FP16 weights fine-tuning ends in NaN."));
  CHECK(says(verdict_on(updates(75, no_number, 75)), "restores the accuracy"));
  CHECK(verdict_on(updates(no_number, 45, 75)) == "No answer: FP32 itself ended in NaN.");
  CHECK(verdict_on(SmallUpdates{}) == "Not measured.");
}

TEST_CASE("small updates: says on how many seeds, where they disagree") {
  SmallUpdates measured{
      .fp32 = {75, 75, 75}, .fp16_weights = {45, 74, no_number}, .fp16_master = {75, 75, 75}};
  CHECK(says(verdict_on(measured), "on 2 of 3 seeds"));
  measured.fp16_weights = {45, 44, 46};
  CHECK_FALSE(says(verdict_on(measured), "seeds"));
}

TEST_CASE("small gradients: no, when S = 1 falls behind and scaling does not") {
  SmallGradients measured = gradients(0.0420, 0.0735, 0.0421, 0.0422);
  measured.flushed = 0.98;
  const std::string text = verdict_on(measured);
  INFO(text);
  CHECK(begins(text, "No: at S = 1 the error stays at 0.0735, 75 % above FP32's 0.0420"));
  CHECK(says(text, "98 % of the gradients"));
  CHECK(says(text, "restores the gradients; the error is 0.0421 with S = 1024 and 0.0422 with dynamic S."));
}

TEST_CASE("small gradients: yes, when S = 1 keeps up, or is better") {
  for (const double unscaled : {0.0420, 0.0430, 0.0300}) {
    const std::string text = verdict_on(gradients(0.0420, unscaled, 0.0421, 0.0422));
    INFO(text);
    CHECK(begins(text, "Yes, here: "));
    CHECK_FALSE(says(text, "restores"));
    CHECK_FALSE(says(text, "stays"));
  }
  CHECK(says(verdict_on(gradients(0.0420, 0.0300, 0.042, 0.042)), "29 % below FP32's"));
}

TEST_CASE("small gradients: in part, between the two") {
  CHECK(begins(verdict_on(gradients(0.0420, 0.0460, 0.0421, 0.0422)), "In part: "));
}

TEST_CASE("small gradients: scaling that does not help, or harms, is named") {
  const std::string one = verdict_on(gradients(0.0420, 0.0735, 0.0700, 0.0422));
  INFO(one);
  CHECK_FALSE(says(one, "restores"));
  CHECK(says(one,
             "Loss scaling does not always restore the gradients; the error is 0.0700 with S = 1024 and "
             "0.0422 with dynamic S."));
  const std::string none = verdict_on(gradients(0.0420, 0.0735, no_number, 0.0600));
  CHECK_FALSE(says(none, "restores"));
  CHECK(says(none, "the error is NaN with S = 1024 and 0.0600 with dynamic S."));
  CHECK(says(verdict_on(gradients(0.0420, 0.0421, no_number, 0.0421)),
             "Loss scaling does harm here; the error"));
}

TEST_CASE("small gradients: NaN and nothing") {
  CHECK(begins(verdict_on(gradients(0.042, no_number, 0.042, 0.042)), "No: at S = 1 training ends in NaN."));
  CHECK(verdict_on(gradients(no_number, 0.07, 0.042, 0.042)) == "No answer: FP32 itself ended in NaN.");
  CHECK(verdict_on(SmallGradients{}) == "Not measured.");
}

TEST_CASE("small gradients: says on how many seeds, where they disagree") {
  const SmallGradients measured{.fp32 = {0.042, 0.042, 0.042}, .unscaled = {0.070, 0.042, 0.070}};
  CHECK(says(verdict_on(measured), "15 % or more on 2 of 3 seeds"));
}
