#include <fmt/format.h>
#include <lessons/01_half/subnormals.h>
#include <lessons/06_loss_scaling/autoencoder.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/numeric/half.h>

namespace tinymp::lab {
namespace {

const std::string question = "Are subnormals worth keeping?";

half flushed(half x) {
  const bool subnormal = (x.bits() & 0x7c00) == 0;            // no exponent bit is set
  return subnormal ? half::from_bits(x.bits() & 0x8000) : x;  // the sign stays: +0 or -0
}

Tensor without_subnormals(const Tensor& x) {
  const Tensor from = x.to(Device::cpu), to(x.shape(), x.dtype());
  const half* values = from.data<half>();
  half* kept = to.data<half>();
  parallel_for(x.size(), 1 << 16, [=](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) kept[i] = flushed(values[i]);
  });
  return to.to(x.device());
}

}  // namespace

//   y = x,  dx = dy, both without their subnormals
Tensor flush_subnormals(const Tensor& x) {
  if (x.dtype() != DType::f16) return x;
  return record("flush_subnormals", {x}, without_subnormals(x),
                [](const Tensor& dy, const Needs&) { return std::vector{without_subnormals(dy)}; });
}

// Where nothing is flushed, linear() has the same bits in one pass.
Tensor FlushingAutoencoder::operator()(const Tensor& images) const {
  const auto on = [this](const Tensor& x) { return handed_on(x); };
  Tensor x = on(cast(images, stack_.layers.front().weight.dtype()));
  for (const nn::Linear& layer : stack_.layers) {
    if (!flushes_) {
      x = layer(x, Activation::sigmoid);
      continue;
    }
    const Tensor products = on(matmul(x, on(layer.weight), {layer.accumulate}));
    x = on(sigmoid(on(add_bias(products, on(layer.bias)))));
  }
  return x;
}

namespace {

struct Machine {
  const char* name;
  float scale;  ///< S; 0: FP32
  bool flushes;
};

const Machine fp32{"FP32", 0, false}, flushes_64{"FP16, S = 64, flushed", 64, true},
    flushes_1024{"FP16, S = 1024, flushed", 1024, true},
    flushes_65536{"FP16, S = 65536, flushed", 65536, true};

/// Sabotage: the machine that should keep subnormals flushes them.
Machine keeps(const Lab& lab) { return {"FP16, S = 1024, kept", 1024, lab.sabotaged()}; }

train::Plan plan_for(Lab& lab, const Machine& machine, std::uint64_t seed) {
  Recipe recipe = recipes::fp32;
  if (machine.scale != 0) {
    recipe = recipes::fp16_static;
    recipe.scaling = StaticScaling{.factor = machine.scale};
  }
  train::Plan plan = autoencoder_plan(lab, {machine.name, recipe}, seed);
  plan.question = question;
  plan.model = train::model_of<FlushingAutoencoder>({784, 64, 32, 64, 784}, machine.flushes);
  return plan;
}

/// The numbers that one layer passes to the next, on either machine. Returns how many of them get lost.
int show_handing_on(Lab& lab, bool first_flushes) {
  Rng rng(0);
  const FlushingAutoencoder first({1, 1}, recipes::fp16_static, rng, first_flushes),
      second({1, 1}, recipes::fp16_static, rng, true);
  const std::vector<float> numbers{0x1p-13f, 0x1p-14f, 0x1.ff8p-15f, 0x1p-15f, -0x1p-20f, 0x1p-24f};
  const Tensor x = Tensor::from({std::ssize(numbers)}, numbers, DType::f16);
  const Tensor kept = first.handed_on(x), flushed = second.handed_on(x);
  lab.say("\n       number   s eeeee ffffffffff   subnormals kept   flushed");
  int lost = 0;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const half on = kept.data<half>()[i];
    lab.say(fmt::format("{:>13.8g}   {}   {:<15.8g}   {:.8g}", numbers[i], to_bit_string(half(numbers[i])),
                        static_cast<float>(on), static_cast<float>(flushed.data<half>()[i])));
    lost += static_cast<float>(on) != numbers[i];
  }
  return lost;
}

/// Test MSE over FP32's, a ratio a seed.
std::vector<double> beside_fp32(const Lab& lab, const Machine& machine) {
  return ratios(lab.results(question, machine.name), lab.results(question, fp32.name));
}

std::string verdict_on(const Lab& lab, const Machine& keeping) {
  const double harm = mean(beside_fp32(lab, flushes_1024)), kept = mean(beside_fp32(lab, keeping));
  const double scaled = mean(beside_fp32(lab, flushes_65536));
  if (!(harm > 1.15 && kept <= 1.05))
    return fmt::format("At S = 1024: {} times FP32's error without them, {} times with them.", fixed(harm, 2),
                       fixed(kept, 2));
  return fmt::format(
      "Yes: without them S = 1024 ends at {} times FP32's error, with them at {} times. S = 65536 {}.",
      fixed(harm, 2), fixed(kept, 2),
      scaled <= 1.2 ? "does without" : concat("ends at ", fixed(scaled, 2), " times"));
}

void claim_all(Lab& lab, const Machine& keeping, int lost) {
  lab.claim(lost == 0, "where subnormals are kept, a layer hands on every half from 2^-24 up",
            Lab::Judged::in_smoke_too);
  const double kept = largest(beside_fp32(lab, keeping)), few = smallest(beside_fp32(lab, flushes_64)),
               many = smallest(beside_fp32(lab, flushes_1024)),
               most = largest(beside_fp32(lab, flushes_65536));
  lab.claim(kept <= 1.05,
            fmt::format("S = 1024, kept: at most {} times FP32's MSE (1.05 allowed)", fixed(kept, 3)));
  lab.claim(many >= 1.5,
            fmt::format("S = 1024, flushed: at least {} times FP32's MSE (1.5 asked)", fixed(many, 2)));
  lab.claim(few >= 3, fmt::format("S = 64, flushed: at least {} times FP32's MSE (3 asked)", fixed(few, 2)));
  lab.claim(most <= 1.2,
            fmt::format("S = 65536, flushed: at most {} times FP32's MSE (1.2 allowed)", fixed(most, 3)));
}

}  // namespace

void ask_about_subnormals(Lab& lab) {
  const Machine keeping = keeps(lab);
  const int lost = show_handing_on(lab, keeping.flushes);
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Machine& machine : {fp32, keeping, flushes_64, flushes_1024, flushes_65536})
      lab.train(plan_for(lab, machine, seed));
  }
  lab.verdict(question, verdict_on(lab, keeping));
  claim_all(lab, keeping, lost);
}

}  // namespace tinymp::lab
