#include <fmt/format.h>
#include <lessons/lab/classroom/question.h>
#include <lessons/lab/classroom/small_format.h>
#include <tinymp/amp/autocast_lists.h>
#include <array>
#include <cmath>
#include <set>
#include <string_view>

// Questions about kernels, gradients and loss scaling: 2, 4, 6, 7 and 9.
namespace tinymp::classroom {

Question tile_question(Draw draw) {
  const int tile = 8 << draw.between(0, 2), side = tile * 2 * draw.between(5, 60);
  const std::int64_t n = side;
  return {
      .text = fmt::format(
          "c = a . b, all {0} x {0}, FP16. A block computes a tile of {1} x {1} of c: for each {1} of k it\n"
          "puts a tile of a and a tile of b ({1} x {1} each) into shared memory, waits at a barrier, "
          "multiplies,\nand waits at another. How many bytes do all blocks together load from global "
          "memory,\nand at how many barriers does a block wait?\nTwo words: BYTES BARRIERS",
          side, tile),
      .answers = {whole(2 * 2 * n * n * (n / tile)), whole(2 * n / tile)}};
}

Question gradient_question(Draw draw) {
  // One unit fires, the other does not.
  std::array<std::array<int, 2>, 2> w{};
  const int fires = draw.between(0, 1);
  for (int unit = 0; unit < 2; ++unit)
    for (int& weight : w[static_cast<std::size_t>(unit)])
      weight = draw.between(1, 4) * (unit == fires ? 1 : -1);
  const std::array<int, 2> x{draw.between(1, 4), draw.between(1, 4)};
  std::array<int, 2> v{};
  for (int& weight : v) {
    weight = draw.between(1, 3);
    if (draw.between(0, 1) == 1) weight = -weight;
  }
  std::array<int, 2> h{};
  for (std::size_t unit = 0; unit < 2; ++unit) h[unit] = std::max(0, w[unit][0] * x[0] + w[unit][1] * x[1]);
  const int y = v[0] * h[0] + v[1] * h[1];
  int error = draw.between(1, 3);
  if (draw.between(0, 1) == 1) error = -error;
  Question asked{.text = fmt::format(
                     "A net with two hidden units:\n  h1 = relu({} x1 + {} x2)    h2 = relu({} x1 + {} x2)\n"
                     "  y = {} h1 + {} h2    L = (y - {})^2 / 2\nFor x1 = {}, x2 = {}: the gradient of L by "
                     "each of its six weights, in the order in which they stand here.\nSix words",
                     w[0][0], w[0][1], w[1][0], w[1][1], v[0], v[1], y - error, x[0], x[1])};
  for (std::size_t unit = 0; unit < 2; ++unit)
    for (const int input : x) asked.answers.push_back(whole(h[unit] > 0 ? error * v[unit] * input : 0));
  for (const int hidden : h) asked.answers.push_back(whole(error * hidden));
  return asked;
}

Question window_question(Draw draw) {
  const SmallFormat format{draw.between(4, 5), draw.between(3, 7)};
  const double least = draw.between(2, 9) / 100000.0, most = draw.between(2, 9) / 100.0;
  int low = -40, high = 40;
  while (format.rounded(std::ldexp(least, low)) == 0) ++low;
  while (!std::isfinite(format.rounded(std::ldexp(most, high)))) --high;
  return {
      .text = fmt::format(
          "Gradients lie between {} and {}. They are kept in a format with {}, made like FP16 (bias {}).\n"
          "S = 2^k. What is the smallest k at which none becomes zero, and the largest at which none "
          "becomes infinite?\nRounding is to the nearest. Two words: LOW HIGH",
          least, most, format.name(), format.bias()),
      .answers = {whole(low), whole(high)}};
}

Question scaler_question(Draw draw) {
  constexpr int steps = 24;
  const int begins = draw.between(8, 16), grows = draw.between(1, 2), falls = draw.between(1, 2),
            interval = draw.between(2, 5);
  std::set<int> bad;
  while (bad.size() < 4) bad.insert(draw.between(2, steps));
  std::string list;
  for (const int step : bad) list += fmt::format("{}{}", list.empty() ? "" : ", ", step);
  int power = begins, good = 0;
  for (int step = 1; step <= steps; ++step) {
    good = bad.contains(step) ? 0 : good + 1;
    if (bad.contains(step)) power -= falls;
    if (good == interval) {
      power += grows;
      good = 0;
    }
  }
  return {
      .text = fmt::format(
          "A dynamic loss scaler begins with S = 2^{}. After {} good steps in a row S is multiplied by {}; "
          "after a bad one by {}.\nOf steps 1 to {} these were bad: {}. S is 2^k then; how many steps did "
          "the optimizer take?\nTwo words: K TAKEN",
          begins, interval, 1 << grows, 1.0 / (1 << falls), steps, list),
      .answers = {whole(power), whole(steps - static_cast<int>(bad.size()))}};
}

Question autocast_question(Draw draw) {
  constexpr std::array<std::string_view, 6> ops = {"matmul", "relu", "softmax", "add", "tanh", "matmul"};
  const auto rule_of = [](std::string_view op) {
    for (const AutocastRule& rule : autocast_rules())
      if (rule.op == op) return rule.runs_in;
    return RunsIn::given;
  };
  std::string chain;
  bool narrow = false;  // the image is FP32
  int to_narrow = 0, to_wide = 0;
  for (int i = 0; i < 9; ++i) {
    const std::string_view op = ops[static_cast<std::size_t>(draw.between(0, 5))];
    const bool has_weight = op == "matmul" || op == "add";
    chain += fmt::format("{}{}{}", i == 0 ? "" : ", ", op, has_weight ? " w" : "");
    const RunsIn rule = rule_of(op);
    if (rule == RunsIn::narrow) to_narrow += (narrow ? 0 : 1) + (has_weight ? 1 : 0);
    const bool widens = rule == RunsIn::wide || (rule == RunsIn::widest && has_weight);  // weights are FP32
    if (widens && narrow) ++to_wide;
    if (rule == RunsIn::narrow || widens) narrow = rule == RunsIn::narrow;
  }
  return {
      .text = fmt::format(
          "Under O1 an FP32 image goes through {}.\nEach w is another FP32 weight. How many casts to FP16 "
          "does autocast write in one forward pass, and how many to FP32?\nTwo words: TO_FP16 TO_FP32",
          chain),
      .answers = {whole(to_narrow), whole(to_wide)}};
}

}  // namespace tinymp::classroom
