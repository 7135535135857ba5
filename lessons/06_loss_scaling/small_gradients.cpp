#include <fmt/format.h>
#include <lessons/06_loss_scaling/small_gradients.h>
#include <lessons/lab/report/number.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/adam.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

// Error above FP32's, as a share of it.
constexpr double fails = 0.15;     ///< small gradients do not survive
constexpr double unharmed = 0.05;  ///< near enough to FP32: no harm, or brought back

double excess(double error, double fp32) { return error / fp32 - 1; }

/// "75 % above FP32's 0.0420", "as FP32's 0.0420"
std::string beside(double error, double fp32) {
  const double share = excess(error, fp32);
  const std::string size = report::percent(std::abs(share));
  if (std::abs(share) < 0.005) return fmt::format("as FP32's {:.4f}", fp32);
  return fmt::format("{} {} FP32's {:.4f}", size, share > 0 ? "above" : "below", fp32);
}

/// On how many seeds S = 1 fails, where it is not all or none.
std::string on_some_seeds(const SmallGradients& measured) {
  const std::vector<double> errors = ratios(measured.unscaled, measured.fp32);
  const auto failed =
      std::ranges::count_if(errors, [](double r) { return !(r < 1 + fails); });  // NaN fails too
  const auto seeds = std::ssize(errors);
  if (failed == 0 || failed == seeds) return "";
  return fmt::format(" ({:.0f} % or more on {} of {} seeds)", 100 * fails, failed, seeds);
}

std::string about_unscaled(const SmallGradients& measured, double fp32, double unscaled) {
  const std::string flushed =
      std::isnan(measured.flushed)
          ? ""
          : fmt::format("; {} of the gradients were flushed to zero", report::percent(measured.flushed));
  if (std::isnan(unscaled)) return "No: at S = 1 training ends in NaN" + on_some_seeds(measured) + ".";
  const char* answer = excess(unscaled, fp32) >= fails     ? "No: at S = 1 the error stays at"
                       : excess(unscaled, fp32) > unharmed ? "In part: at S = 1 the error is"
                                                           : "Yes, here: at S = 1 the error is";
  return fmt::format("{} {:.4f}, {}{}{}.", answer, unscaled, beside(unscaled, fp32), on_some_seeds(measured),
                     flushed);
}

struct Scaled {
  std::string name;
  double error;
};

std::string figure(const Scaled& scaled) {
  return std::isnan(scaled.error) ? scaled.name + " ends in NaN"
                                  : fmt::format("{} {:.4f}", scaled.name, scaled.error);
}

/// "a static S = 1024 0.0421, a dynamic S 0.0422"
std::string listed(const std::vector<Scaled>& kinds) {
  std::string text;
  for (const Scaled& scaled : kinds)
    text += (text.empty() ? std::string() : std::string(", ")) + figure(scaled);
  return text;
}

std::string about_scaling(const SmallGradients& measured, double fp32, double unscaled) {
  std::vector<Scaled> back, behind;
  const auto judge = [&](const std::string& name, const std::vector<double>& errors) {
    if (errors.empty()) return;
    const double error = mean(errors);
    (excess(error, fp32) <= unharmed ? back : behind).push_back({name, error});  // NaN is behind
  };
  judge(fmt::format("static S = {:.0f}", static_scale), measured.static_scaled);
  judge("dynamic S", measured.dynamic_scaled);
  std::string text;
  const bool harmed = !(excess(unscaled, fp32) <= unharmed);
  if (!back.empty()) {
    text +=
        fmt::format(" {}: {}.", harmed ? "Loss scaling brings them back" : "With loss scaling", listed(back));
  }
  if (!behind.empty()) {
    text +=
        fmt::format(" {}: {}.", harmed ? "This scaling does not bring them back" : "Scaling does harm here",
                    listed(behind));
  }
  return text;
}

double share_flushed(const std::vector<const train::Run*>& runs) {
  std::vector<double> shares;
  for (const train::Run* run : runs) {
    for (const train::LogRecord& record : run->steps) {
      if (!std::isnan(record.flushed)) shares.push_back(record.flushed);
    }
  }
  return mean(shares);
}

}  // namespace

std::vector<Contender> small_gradients_contenders() {
  Recipe fixed = recipes::fp16_static, dynamic = recipes::fp16_dynamic;
  fixed.scaling = StaticScaling{.factor = static_scale};
  dynamic.scaling =
      DynamicScaling{.growth_interval = 100};  // the usual 2000 would not grow once in 400 steps
  return {{"FP32", recipes::fp32},
          {"FP16, S = 1", recipes::fp16_master},
          {"FP16, static S = 1024", fixed},
          {"FP16, dynamic S", dynamic}};
}

train::Plan autoencoder_plan(Lab& lab, const Contender& contender, std::uint64_t seed) {
  constexpr float lr = 1e-2f;
  train::Plan plan;
  plan.question = small_gradients;
  plan.name = contender.name;
  plan.recipe = contender.recipe;
  plan.seed = seed;
  plan.task = train::Task::reconstruct;
  plan.model = [](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::Autoencoder>(std::vector<std::int64_t>{784, 64, 32, 64, 784}, recipe, rng);
  };
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = lr}, recipe);
  };
  plan.optimizer_name = concat("adam lr=", lr);
  plan.steps = lab.steps(lab.is_cut() ? autoencoder_steps_cut : autoencoder_steps, 6);
  plan.batch = lab.is_cut() ? autoencoder_batch_cut : autoencoder_batch;
  if (lab.options().smoke) plan.batch = 256;
  plan.log_every = 5;
  // A look costs an FP32 step. FP32 itself flushes nothing, by definition.
  plan.shadow_every = has_narrow_gradients(contender.recipe) ? lab.steps(50, 3) : 0;
  plan.histogram_every = lab.steps(100, 3);
  return plan;
}

SmallGradients measured_small_gradients(const Lab& lab) {
  return {.fp32 = lab.results(small_gradients, "FP32"),
          .unscaled = lab.results(small_gradients, "FP16, S = 1"),
          .static_scaled = lab.results(small_gradients, "FP16, static S = 1024"),
          .dynamic_scaled = lab.results(small_gradients, "FP16, dynamic S"),
          .flushed = share_flushed(lab.runs(small_gradients, "FP16, S = 1"))};
}

std::string verdict_on(const SmallGradients& measured) {
  if (measured.fp32.empty() || measured.unscaled.empty()) return "Not measured.";
  const double fp32 = mean(measured.fp32), unscaled = mean(measured.unscaled);
  if (std::isnan(fp32)) return "No answer: FP32 itself ended in NaN.";
  return about_unscaled(measured, fp32, unscaled) + about_scaling(measured, fp32, unscaled);
}

void run_small_gradients(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : small_gradients_contenders())
      lab.train(autoencoder_plan(lab, contender, seed));
  }
  lab.verdict(small_gradients, verdict_on(measured_small_gradients(lab)));
}

}  // namespace tinymp::lab
