#include <fmt/format.h>
#include <lessons/05_master_weights/questions.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <map>

namespace tinymp::lab {
namespace {

/// e = e + (1 - decay)(w - e), computed in FP32 and then rounded once, to the format in which e is stored.
struct Average {
  std::string name;
  DType format;
  float decay;
  std::vector<float> values{};

  void follow(const std::vector<float>& weights) {
    if (values.empty() || decay == 0) values = weights;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += (1 - decay) * (weights[i] - values[i]);
    round_to(format, values);
  }
};

const std::string itself = "the model itself", slow_fp32 = "0.9999 in FP32", slow_fp16 = "0.9999 in FP16",
                  fast_fp32 = "0.999 in FP32", fast_bf16 = "0.999 in BF16";

std::vector<Average> averages() {
  return {{itself, DType::f32, 0},
          {fast_fp32, DType::f32, 0.999f},
          {fast_bf16, DType::bf16, 0.999f},
          {slow_fp32, DType::f32, 0.9999f},
          {slow_fp16, DType::f16, 0.9999f}};
}

std::unique_ptr<nn::Mlp> make_model(Rng rng) {
  return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 64, 10}, recipes::fp32, rng);
}

double accuracy(Lab& lab, const std::vector<float>& weights) {
  const std::unique_ptr<nn::Mlp> model = make_model(Rng(0));
  auto from = weights.begin();
  for (const Tensor& p : tensors(model->parameters())) {
    std::copy_n(from, p.size(), p.data<float>());
    from += p.size();
  }
  return measure(train::Task::classify, *model, lab.data().test);
}

/// Trains one model and lets all averages follow it.
std::vector<Average> trained(Lab& lab, std::uint64_t seed) {
  std::vector<Average> all = averages();
  const std::unique_ptr<nn::Mlp> model = make_model(Rng(seed).split(0));
  move_to(*model, lab.device());
  Sgd optimizer(tensors(model->parameters()), {.lr = 0.01f});
  LossScaler scaler(NoScaling{});
  data::Loader loader(lab.data().train, 64, Rng(seed).split(1).seed());
  const auto follow_all = [&] {
    const std::vector<float> weights = optimizer.weights().to_floats();
    for (Average& average : all) average.follow(weights);
  };
  for (std::int64_t step = 0; step < lab.steps(4000, 5); ++step) {
    follow_all();
    const data::Batch batch = to(loader.next(), lab.device());
    {
      Tape tape;
      tape.backward(cross_entropy((*model)(batch.images), batch.labels));
    }
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
  follow_all();
  return all;
}

}  // namespace

void ask_about_averages(Lab& lab) {
  std::map<std::string, std::vector<double>> results;
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Average& average : trained(lab, seed))
      results[average.name].push_back(accuracy(lab, average.values));
  }
  lab.say(fmt::format("\nA moving average of the weights, {} steps       accuracy (%)", lab.steps(4000, 5)));
  for (const Average& average : averages()) {
    lab.say(fmt::format("  {:<45}{}", average.name, spread(results[average.name], 1)));
    lab.number("average, " + average.name, mean(results[average.name]));
  }
  const double fp16 = smallest(differences(results[slow_fp32], results[slow_fp16]));
  const double bf16 = smallest(differences(results[fast_fp32], results[fast_bf16]));
  lab.claim(fp16 >= 15,
            fmt::format("a moving average of 0.9999 in FP16: at least {} points below FP32's (15 asked)",
                        fixed(fp16, 1)));
  lab.claim(bf16 >= 10,
            fmt::format("a moving average of 0.999 in BF16: at least {} points below FP32's (10 asked)",
                        fixed(bf16, 1)));
}

}  // namespace tinymp::lab
