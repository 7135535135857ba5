#include <fmt/format.h>
#include <lessons/15_many_processes/questions.h>
#include <tinymp/dist/wire.h>
#include <tinymp/nn/mlp.h>
#include <algorithm>
#include <cmath>
#include <map>

// Sixteen bits on the wire, number by number: how large and how small may S be?
namespace tinymp::lab {
namespace {

constexpr int ranks = 8, widest = 40;  // powers of two that are tried for S

/// The first gradients of each rank, from 16 images.
std::vector<Tensor> gradients_of(Lab& lab) {
  data::Loader loader(lab.data().train, 16, lab.options().first_seed);
  Rng rng = Rng(lab.options().first_seed).split(0);
  std::unique_ptr<nn::Model> model;
  std::vector<Tensor> all;
  for (int r = 0; r < ranks; ++r) {
    const data::Batch batch = loader.next();
    if (!model)
      model = std::make_unique<nn::Mlp>(std::vector<std::int64_t>{batch.images.shape()[1], 64, 10},
                                        recipes::fp32, rng);
    Tape tape;
    tape.backward(cross_entropy((*model)(batch.images), batch.labels));
    std::vector<float> flat;
    for (const nn::Parameter& p : model->parameters()) {
      const std::vector<float> part = p.value.grad().to_floats();
      flat.insert(flat.end(), part.begin(), part.end());
      p.value.clear_grad();
    }
    all.push_back(Tensor::from(Shape{std::ssize(flat)}, flat));
  }
  return all;
}

/// The mean of the gradients at S, by way of the wire and back.
std::vector<float> mean_by_wire(const std::vector<Tensor>& all, double s, const dist::Wire& wire) {
  const double factor = dist::predivide_factor(wire.divide, ranks);
  const Tensor sum(all[0].shape(), wire.format), own(all[0].shape(), wire.format),
      scaled = Tensor::like(all[0]);
  for (std::size_t r = 0; r < all.size(); ++r) {
    kernels::scale(all[r].view(), s, scaled.view());
    dist::put_on_wire(scaled.view(), factor, (r == 0 ? sum : own).view());
    if (r > 0) kernels::accumulate(own.view(), sum.view());
  }
  kernels::cast(sum.view(), scaled.view());
  kernels::scale(scaled.view(), 1 / (s * dist::divisor_behind(ranks, factor)), scaled.view());
  return scaled.to_floats();
}

struct Window {
  int low = 99,
      high =
          -99;  ///< log2 of the least S that keeps all but 1 % of the gradients, and of the largest finite one
  double off = 0;  ///< in between: the root of the mean square of the error, in % of that of the gradients
};

Window window_of(const std::vector<Tensor>& all, const dist::Wire& wire) {
  const std::vector<float> exact = mean_by_wire(all, 1, {.format = DType::f32, .divide = wire.divide});
  Window window;
  for (int power = -widest; power <= widest; ++power) {
    const std::vector<float> found = mean_by_wire(all, std::ldexp(1.0, power), wire);
    if (!std::ranges::all_of(found, [](float g) { return std::isfinite(g); })) break;
    window.high = power;
    std::size_t lost = 0, there = 0;
    double errors = 0, squares = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      there += exact[i] != 0;
      lost += exact[i] != 0 && found[i] == 0;
      const double error = static_cast<double>(found[i]) - static_cast<double>(exact[i]);
      errors += error * error, squares += static_cast<double>(exact[i]) * static_cast<double>(exact[i]);
    }
    if (100 * lost > there) continue;
    window.low = std::min(window.low, power);
    window.off = 100 * std::sqrt(errors / squares);
  }
  return window;
}

}  // namespace

void show_window(Lab& lab) {
  const std::vector<Tensor> all = gradients_of(lab);
  lab.say(fmt::format("\nThe gradients of {} ranks, added in 16 bits: the S that they allow", ranks));
  lab.say("                       all but 1 % kept   all finite   off by");
  std::map<std::string, Window> found;
  for (const DType format : {DType::f16, DType::bf16})
    for (const dist::Divide divide : {dist::Divide::after, dist::Divide::split, dist::Divide::first}) {
      const bool wrong = lab.sabotaged("wire") && divide == dist::Divide::split;
      const Window window = window_of(all, {format, wrong ? dist::Divide::first : divide});
      const std::string name = fmt::format("{}, divided {}", name_of(format), dist::name_of(divide));
      found[name] = window;
      const auto power = [&](int p) { return std::abs(p) >= widest ? "any" : fmt::format("2^{}", p); };
      lab.say(fmt::format("  {:<20} {:>17} {:>12} {:>6.2g} %", name, power(window.low), power(window.high),
                          window.off));
    }
  const Window &late = found["f16, divided after"], &part = found["f16, divided split"],
               &early = found["f16, divided first"];
  lab.claim(
      early.high - late.high == 3 && early.low - late.low >= 2,
      fmt::format("FP16, 8 ranks: divided after the sum they overflow {} powers of two earlier than divided "
                  "first (3 asked), and lose small gradients {} later (2 asked)",
                  early.high - late.high, early.low - late.low),
      Lab::Judged::in_smoke_too);
  lab.claim(late.high < part.high && part.high < early.high && late.low < part.low && part.low < early.low,
            "... and split lies between the two at either end", Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
