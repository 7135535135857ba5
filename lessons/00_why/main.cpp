// Lesson 00 - why: what sixteen bits would save.
//
// Where the memory of a training step goes, in FP32 and in mixed precision; how fast a loop over long arrays
// is in either format on this processor; and a convolutional network trained both ways. Expected: the state
// of the model takes 16 bytes a parameter both ways, the activations take half; and both end at the same
// accuracy.

#include <fmt/format.h>
#include <lessons/00_why/bandwidth.h>
#include <lessons/00_why/bytes.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <cmath>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

const std::string question = "Does mixed precision cost accuracy?";
const char *const fp32 = "FP32", *const mixed = "mixed precision";

train::Plan lenet_plan(Lab& lab, const char* name, const Recipe& recipe, std::uint64_t seed) {
  train::Plan plan;
  plan.question = question;
  plan.name = name;
  plan.recipe = recipe;
  plan.seed = seed;
  plan.model = [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); };
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& r) {
    return std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = 1e-3f}, r);
  };
  plan.optimizer_name = "adam lr=0.001";
  plan.steps = lab.steps(400, 3);
  plan.batch = 128;
  return plan;
}

/// The difference between measured and counted activations, as a share of the counted ones.
double off(const Bytes& bytes) { return std::fabs(bytes.pool / bytes.activations - 1); }

void claim_bytes(Lab& lab, const Bytes& f32, const Bytes& f16) {
  const auto claim = [&](bool holds, const std::string& sentence) {
    lab.claim(holds, sentence, Lab::Judged::in_smoke_too);
  };
  claim(f32.state() == 16 * f32.parameters && f16.state() == 16 * f16.parameters,
        fmt::format("the model's state takes {} bytes a parameter in FP32 and {} in mixed precision",
                    f32.state() / f32.parameters, f16.state() / f16.parameters));
  const double share = f16.pool / f32.pool, error = std::max(off(f32), off(f16));
  claim(share >= 0.49 && share <= 0.52,
        fmt::format("ResNet-20's activations take {:.1f} % of FP32's bytes (49 to 52 asked)", 100 * share));
  claim(error <= 0.02, fmt::format("... and were counted to within {:.1f} % (2 allowed)", 100 * error));
}

void experiment(Lab& lab) {
  show_bandwidth(lab);
  const Recipe recipe = recipes::fp16_dynamic;
  const Bytes f32 = bytes_of_resnet(lab, recipes::fp32), f16 = bytes_of_resnet(lab, recipe);
  show_bytes(lab, "ResNet-20", f32, f16);
  show_bytes(lab, "MLP 784-128-10", bytes_of_mlp(lab, recipes::fp32), bytes_of_mlp(lab, recipe));

  for (const std::uint64_t seed : lab.seeds()) {
    lab.train(lenet_plan(lab, fp32, recipes::fp32, seed));
    lab.train(lenet_plan(lab, mixed, recipe, seed));
  }
  const std::vector<double> gaps = differences(lab.results(question, fp32), lab.results(question, mixed));
  const double gap = std::max(largest(gaps), -smallest(gaps));
  lab.verdict(question, std::isnan(gap) ? "No answer: a run ended in NaN."
                        : gap <= 1      ? fmt::format("Not here: the two end within {:.2f} points.", gap)
                                        : fmt::format("They end {:.2f} points apart.", gap));
  claim_bytes(lab, f32, f16);
  lab.claim(gap <= 1,
            fmt::format("FP32 and mixed precision end within {} points (1 allowed)", fixed(gap, 2)));
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "00_why", experiment); }
