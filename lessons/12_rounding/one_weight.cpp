#include <fmt/format.h>
#include <lessons/12_rounding/rounding.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/half.h>
#include <tinymp/optim/optimizers.h>
#include <limits>

namespace tinymp::lab {
namespace {

constexpr float update = 0.001f;

/// Weights of 1 that one optimizer moves by equal updates.
class Weights {
 public:
  Weights(const Lab& lab, std::int64_t count, const Recipe& recipe)
      : p_(Tensor::from({count}, std::vector<float>(static_cast<std::size_t>(count), 1), recipe.compute)
               .set_requires_grad(true)),
        optimizer_(sabotaged_if_asked(
            lab, std::make_unique<Sgd>(std::vector<Tensor>{p_}, Sgd::Options{.lr = 1}, recipe))) {
    optimizer_->set_rounding_seed(lab.options().first_seed);
  }

  void move(float by, int steps) {
    for (int step = 0; step < steps; ++step) {
      kernels::fill(p_.bound_grad().view(), static_cast<double>(by));
      p_.set_grad(p_.bound_grad());
      Gradients gradients = optimizer_->gradients();
      UnscaleResult check = scaler_.unscale(gradients);
      optimizer_->step(gradients, check);
      scaler_.update(std::move(check));
      optimizer_->zero_grad();
    }
  }
  std::vector<float> values() const { return p_.to_floats(); }

 private:
  Tensor p_;
  std::unique_ptr<Optimizer> optimizer_;
  LossScaler scaler_{NoScaling{}};
};

/// The gradients stay in FP32: only the update is to be rounded.
Recipe of_one_weight(Recipe recipe) {
  recipe.gradient = DType::f32;
  recipe.scaling = NoScaling{};
  return recipe;
}

template <class T>
void show_format(Lab& lab, const char* name, int fraction_bits, float below_one) {
  using Limits = std::numeric_limits<T>;
  const auto number = [](T x) { return static_cast<double>(static_cast<float>(x)); };
  lab.say(fmt::format("  {:<6} {:>13} {:>16.3g} {:>16.3g} {:>18.9g}", name, fraction_bits,
                      number(Limits::min()), number(Limits::max()), static_cast<double>(below_one)));
}

}  // namespace

void show_numbers(Lab& lab) {
  lab.say("\n         fraction bits  smallest normal          largest  largest below 1");
  show_format<float>(lab, "FP32", 23, 0x1.fffffep-1f);
  show_format<half>(lab, "FP16", 10, static_cast<float>(half::from_bits(0x3bff)));
  show_format<bfloat16>(lab, "BF16", 7, static_cast<float>(bfloat16::from_bits(0x3f7f)));
}

void show_one_weight(Lab& lab) {
  lab.say(fmt::format("\nA weight of 1, each update takes {} away", update));
  lab.say(fmt::format("  {:<6} {:>10} {:>14} {:>14} {:>14} {:>14}", "steps", "FP32", "BF16, nearest",
                      "toward zero", "stochastic", "Kahan"));
  const Recipe zero{
      .compute = DType::bf16, .master = DType::bf16, .rounding = {.masters = Rounding::toward_zero}};
  Weights all[] = {{lab, 1, recipes::fp32},
                   {lab, 1, of_one_weight(recipes::bf16_weights)},
                   {lab, 1, zero},
                   {lab, 1, of_one_weight(recipes::bf16_sr)},
                   {lab, 1, of_one_weight(recipes::bf16_kahan)}};
  int done = 0;
  for (const int steps : {0, 1, 2, 3, 4, 10, 100, 500}) {
    std::string line = fmt::format("  {:<6}", steps);
    int width = 11;
    for (Weights& weights : all) {
      weights.move(update, steps - done);
      line += fmt::format("{:>{}.6g}", static_cast<double>(weights.values()[0]), width);
      width = 15;
    }
    lab.say(line);
    done = steps;
  }
}

void show_random_words(Lab& lab) {
  constexpr std::int64_t count = 100'000;
  constexpr int steps = 8;
  Weights weights(lab, count, of_one_weight(recipes::bf16_sr));
  weights.move(0x1p-11f, steps);  // below 1 BF16 numbers lie 2^-8 apart
  std::int64_t moved = 0;
  double sum = 0;
  for (const float w : weights.values()) {
    moved += w != 1;
    sum += static_cast<double>(w);
  }
  const double share = 100 * static_cast<double>(moved) / count, mean = sum / count;
  lab.number("moved after eight updates (%)", share);
  lab.number("mean after eight updates", mean);
  lab.say(
      fmt::format("\n{} BF16 weights of 1, {} updates of 2^-11 each, rounded stochastically:", count, steps));
  lab.say(fmt::format("  {} % of the weights have moved, and their mean is {:.5f}", fixed(share, 1), mean));
  lab.claim(share > 64 && share < 67,
            fmt::format("each step has its own random words: {} % of the weights have moved after eight "
                        "updates of an eighth (64 to 67 asked)",
                        fixed(share, 1)),
            Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
