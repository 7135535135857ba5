// Lesson 02 - Matmul: what goes wrong when a barrier is missing?
//
// The same product by five kernels, each of which asks less of memory than the one before. Then one of them
// loses its barrier: in one order of threads the result is right, in others it is not, and ThreadSanitizer
// names the two lines that race, whatever the order. Last a network is trained through this kernel. Expected:
// with the barrier, or without it in the lucky order, it learns; in another it never does; in the third it
// learns as if nothing were wrong.

#include <fmt/format.h>
#include <lessons/02_matmul/matmul.h>
#include <lessons/02_matmul/show.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/optim/optimizers.h>

using namespace tinymp;
using namespace tinymp::lab;
namespace emu = kernels::emu;

namespace {

const std::string question = "Does training notice a missing barrier?";

struct Contestant {
  std::string name;
  Kernel kernel;
  ThreadOrder order;
};
const Contestant with{"with its barrier", emu::matmul_with_barrier, ThreadOrder::shuffled};
const Contestant in_reverse{"without, reverse", emu::matmul_without_barrier, ThreadOrder::reverse};
const Contestant shuffled{"without, shuffled", emu::matmul_without_barrier, ThreadOrder::shuffled};
const Contestant forward{"without, forward", emu::matmul_without_barrier, ThreadOrder::forward};

train::Plan plan_for(const Lab& lab, const Contestant& contestant, std::uint64_t seed) {
  train::Plan plan;
  plan.question = question;
  plan.name = contestant.name;
  plan.recipe = recipes::fp16_weights;
  plan.seed = seed;
  plan.model = [kernel = contestant.kernel](const Recipe& recipe, Rng& rng) {
    clear_shared_memory(kernel);
    return std::make_unique<EmulatedMlp>(kernel, recipe, rng);
  };
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = 0.1f}, recipe);
  };
  plan.optimizer_name = "sgd lr=0.1";
  plan.steps = lab.steps(200, 3);
  return plan;
}

/// Points of accuracy below the run with the barrier, seed by seed.
std::vector<double> gaps(const Lab& lab, const Contestant& without) {
  return differences(lab.results(question, with.name), lab.results(question, without.name));
}

bool same_bits(const Lab& lab, const Contestant& without) {
  const auto a = lab.runs(question, with.name), b = lab.runs(question, without.name);
  for (std::size_t seed = 0; seed < a.size(); ++seed) {
    if (a[seed]->result->value != b[seed]->result->value) return false;
    for (std::size_t i = 0; i < a[seed]->steps.size(); ++i) {
      if (a[seed]->steps[i].loss != b[seed]->steps[i].loss) return false;
    }
  }
  return true;
}

std::string verdict_on(const Lab& lab) {
  const bool unnoticed = largest(gaps(lab, shuffled)) <= 2;
  std::string text = unnoticed ? "Not always." : "Here it did.";
  text += fmt::format(" With its barrier {} %", spread(lab.results(question, with.name), 1));
  for (const Contestant* run : {&in_reverse, &shuffled, &forward}) {
    const std::string result = spread(lab.results(question, run->name), 1);
    text +=
        fmt::format("; {} {}", run->name, same_bits(lab, *run) ? "the same, to the last bit" : result + " %");
  }
  return text + ".";
}

void experiment(Lab& lab) {
  if (lab.device() != Device::cpu)
    throw UsageError(
        "this lesson runs on the CPU, where it chooses the order of threads: leave out --device");
  // Shared memory holds what the block before left. On one thread of the CPU the blocks have a fixed order.
  set_threads(1);
  const bool agree = show_ladder(lab), right_and_wrong = show_orders(lab);
  name_the_race(lab);
  Contestant first = with;
  if (lab.sabotaged()) first.kernel = emu::matmul_without_barrier;  // no barrier where there should be one
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contestant& contestant : {first, in_reverse, shuffled, forward}) {
      use_order(contestant.order);
      lab.train(plan_for(lab, contestant, seed));
    }
  }
  lab.verdict(question, verdict_on(lab));

  const double hidden = largest(gaps(lab, shuffled)), seen = smallest(gaps(lab, forward));
  const double asked = lab.is_cut() ? 40 : 60;
  const auto at_once = Lab::Judged::in_smoke_too;
  lab.claim(agree, "five kernels agree with float64 to the last rounding", at_once);
  lab.claim(right_and_wrong,
            "without its barrier a kernel is right in one order of threads, and wrong in two", at_once);
  lab.claim(same_bits(lab, in_reverse), "in the lucky order training keeps every bit", at_once);
  lab.claim(hidden <= 2,
            fmt::format("shuffled, some products wrong: at most {:.2f} points below (2 allowed)", hidden));
  lab.claim(seen >= asked,
            fmt::format("forward: at least {} points below ({} asked)", fixed(seen, 1), asked));
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "02_matmul", experiment); }
