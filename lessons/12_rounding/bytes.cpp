#include <fmt/format.h>
#include <lessons/12_rounding/rounding.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>

namespace tinymp::lab {
namespace {

/// Bytes of the arenas of one optimizer.
struct Arenas {
  double weights = 0, gradients = 0, master = 0, moments = 0, compensation = 0, parameters = 0;
  double each() const { return (weights + gradients + master + moments + compensation) / parameters; }
};

double bytes_of(const Tensor& x) {
  return static_cast<double>(x.size()) * static_cast<double>(size_of(x.dtype()));
}

Arenas measured(const Recipe& recipe) {
  Rng rng(0);
  const nn::Mlp model({784, 128, 10}, recipe, rng);
  const Adam adam(tensors(model.parameters()), {}, recipe);
  Arenas found{.weights = bytes_of(adam.weights()), .parameters = static_cast<double>(adam.weights().size())};
  for (const Tensor& p : tensors(model.parameters())) found.gradients += bytes_of(p.bound_grad());
  if (adam.master().id() != adam.weights().id()) found.master = bytes_of(adam.master());
  for (const Tensor& moment : adam.moments()) found.moments += bytes_of(moment);
  if (adam.has_compensation()) {
    found.compensation = bytes_of(adam.moments().back());
    found.moments -= found.compensation;
  }
  return found;
}

double say_bytes(Lab& lab, const std::string& name, const Recipe& recipe) {
  const Arenas a = measured(recipe);
  const auto each = [&](double bytes) { return bytes / a.parameters; };
  lab.say(fmt::format("  {:<32} {:>7} {:>9} {:>6} {:>7} {:>5} {:>5}", name, each(a.weights),
                      each(a.gradients), each(a.master), each(a.moments), each(a.compensation), a.each()));
  lab.number(name + ": bytes a parameter", a.each());
  return a.each();
}

}  // namespace

void show_bytes(Lab& lab) {
  lab.say("\nBytes a parameter, Adam's arenas   weights gradients master moments Kahan total");
  std::map<std::string, double> together;
  for (const Contender& c : ways_to_round()) together[c.name] = say_bytes(lab, c.name, c.recipe);
  for (const Contender& c : with_bf16_moments()) {
    const std::string name = c.name + ", BF16 moments";
    together[name] = say_bytes(lab, name, c.recipe);
  }
  const auto of = [&](const std::string& name, const char* moments = "") {
    return together.at(name + moments);
  };
  const char* const narrow = ", BF16 moments";
  lab.claim(
      of(bf16_master) == 16 && of(bf16_random) == 12 && of(bf16_kahan) == 14 &&
          of(bf16_master, narrow) == 12 && of(bf16_random, narrow) == 8 && of(bf16_kahan, narrow) == 10,
      "a parameter takes 16 bytes with an FP32 master, 12 stochastic, 14 with Kahan; with BF16 moments 12, "
      "8 and 10",
      Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
