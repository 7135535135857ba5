#pragma once

#include <kernels/kernels.h>
#include <tinymp/numeric/recipe.h>
#include <tinymp/optim/gradients.h>
#include <tinymp/optim/shards.h>
#include <tinymp/tensor/tensor.h>
#include <memory>
#include <optional>
#include <vector>

/// What all optimizers have in common: flat arenas, the two passes over the arenas, and the master copies.
namespace tinymp {

/// One step of one optimizer, from zero_grad() to zero_grad().
struct Gradients::Step {
  Tensor arena;               ///< all gradients, one after the other, still multiplied by S
  DeviceValue<float> factor;  ///< unscale() sets it to 1 / S, clip_norm() makes it smaller
  DeviceValue<kernels::PassCounts> counts;
  Stage stage = Stage::scaled;
  double micro_batches = 1;                ///< the gradients are the sum over so many
  std::shared_ptr<const Shards> shards{};  ///< the processes that share the step; null: none

  /// Looks at the gradients, those of other processes included, and sets the factor to 1 / (S micro-batches).
  void unscale(Cell<const ScaleState> scale, Cell<kernels::GradientCounts> found) const;
  /// Makes the factor smaller where the norm of all is above max_norm.
  void clip(float max_norm, const View& norm) const;

 private:
  View own() const;  ///< the gradients that this process looks at
};

/// Lays out its parameters, their gradients, the master copy and the moments in flat arenas. So a step takes two
/// passes over the arenas. First LossScaler::unscale() reads the gradients. Then step() multiplies the gradients by
/// the factor, updates the masters and rounds the masters into the weights. clip_norm() adds a pass between the two.
class Optimizer {
 public:
  virtual ~Optimizer();  ///< the parameters keep their values, and another optimizer may take them
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;

  /// Returns the gradients that backward has left since zero_grad(). A parameter without a gradient gets
  /// zeros, so its momentum, moments and weight decay go on. (PyTorch leaves such a parameter out of the
  /// step.)
  /// After several backwards they are sums. unscale() makes the mean over `micro_batches` of them. A micro-batch with fewer
  /// samples than the others counts as a fraction: LossScaler::seed.
  /// Throws Error when backward has left no gradient at all, and unless micro_batches is finite and above 0.
  Gradients gradients(double micro_batches = 1);

  /// Updates every parameter, or skips the step. step() skips the step when the check found a gradient that is not
  /// finite and the scaling policy skips such steps. In a skipped step weights, masters, moments, batch norm's
  /// running averages and the step counter keep their bits.
  /// The outcome counts the updates that changed no value of master(). It lies on the device; its read() waits.
  /// Throws Error in five cases: the gradients were not unscaled; they are another optimizer's; they are from before
  /// zero_grad(); the check belongs to other gradients; step() was called for these gradients before.
  DeviceValue<kernels::StepOutcome> step(const Gradients& gradients, const UnscaleResult& check);

  /// For programs that measure: returns the updates of the last step in FP32, before they were rounded to the
  /// master's format. `before` is a copy of master() from before the step. Waits, and computes the updates again on
  /// the CPU. Throws Error in five cases: there was no step since zero_grad(); the step was skipped; the gradients
  /// are another optimizer's; they are from before zero_grad(); `before` and master() differ in size.
  std::vector<float> exact_updates(const Gradients& gradients, const Tensor& before) const;

  /// Forgets the gradients, so that the next backward writes new ones. Also drops changes that are put off until
  /// step(), such as the new running averages of batch norm (Tensor::on_step). So if you call zero_grad()
  /// between forward and step, batch norm's running averages do not include that batch.
  void zero_grad();

  /// ZeRO stage 1: from now on this optimizer keeps its own range of moments(), and of master() where that is not the
  /// weights themselves (as in an FP32 recipe; these stay whole). All optimizers that share must have the same bits; then
  /// they take the same steps together, and keep those of one that shares nothing. Before unscale() a process needs the
  /// gradients of its own range alone. On the CPU.
  void share(std::shared_ptr<const Shards> shards);
  bool is_shared() const { return shards_ != nullptr; }

  float learning_rate() const { return learning_rate_; }
  void set_learning_rate(float lr);  ///< throws Error unless lr is finite and not negative
  std::int64_t steps() const { return step_.read().steps; }  ///< steps taken so far; waits

  const char* name() const { return name_; }          ///< "Adam"
  const Tensor& weights() const { return weights_; }  ///< all parameters in the compute format
  /// The copy that step() updates; weights() itself when there is no master copy.
  const Tensor& master() const { return master_; }
  /// The moments of the rule; with Recipe::kahan the compensation comes after them, in the master's format.
  const std::vector<Tensor>& moments() const { return moments_; }
  bool has_compensation() const { return rounding_.kahan; }
  /// True when an update is rounded to the master's format before it is subtracted: kernels::UpdateCounts.
  bool rounds_updates() const { return rounding_.masters == Rounding::nearest_even && !rounding_.kahan; }

  /// The random words of stochastic rounding follow from this seed, the number of the step and the weight's place in the
  /// arena. So a seed gives the same words again, and a restored optimizer goes on with those of its next step. The seed
  /// is 0 at first. Set it before the first step: a state does not hold it.
  void set_rounding_seed(std::uint64_t seed) { rounding_.seed = seed; }
  /// For a chapter that shows this mistake: every step uses the words of the first again. A weight whose word is low
  /// then rounds up each time, and one whose word is high never.
  void set_same_words_each_step(bool same) { rounding_.same_words_each_step = same; }

  /// Everything of this optimizer that training needs to continue; S is in LossScaler::state(). The tensors are
  /// copies.
  struct State {
    std::int64_t steps = 0;
    float learning_rate = 0;
    Tensor weights, master;
    std::vector<Tensor> moments;
  };
  /// Copies on the CPU take no memory of a GPU that trains. Copies on the device of the parameters are faster.
  /// A shared optimizer gives the first process the whole state when that calls this, between two steps or behind step(). The
  /// others then call it, too (Shards::begin_collecting), and get neither masters nor moments.
  State state(Device where = Device::cpu) const;
  /// Throws Error, and changes nothing, when shapes, formats or the number of moments differ, when steps is
  /// negative, when learning_rate is negative or not finite, and for an optimizer that is shared already.
  void restore(const State& state);

 protected:
  /// `recipe` sets the formats of the gradients, the master and the moments. A parameter must have the format
  /// recipe.compute already. With fp32_norm_parameters it may also have the master's format, as batch norm's
  /// gamma and beta do. The model reads such a parameter from the master, not from the rounded copy in
  /// weights(). Throws Error if a parameter has another format, or if the recipe asks for f64 anywhere: updates are computed in
  /// FP32. Also throws Error if there is no parameter, if the parameters lie on different devices, if a parameter requires
  /// no gradient, is given twice or belongs to another optimizer, and for a learning rate below 0 or not finite,
  /// and where expect_roundings() does.
  Optimizer(const char* name, std::vector<Tensor> parameters, float lr, int moments, const Recipe& recipe);

  virtual kernels::UpdateRule rule() const = 0;

 private:
  kernels::UpdateArenas arenas() const;
  bool has_master() const { return master_.id() != weights_.id(); }
  void move_wide_parameters();
  void share_update(kernels::StepOutcome& outcome) const;
  void share_wide_parameters() const;
  std::size_t rule_moments() const { return moments_.size() - (has_compensation() ? 1 : 0); }

  const char* name_;
  std::vector<Tensor> parameters_;
  float learning_rate_ = 0;
  kernels::UpdateRounding rounding_;
  DeviceValue<kernels::StepState> step_;
  Tensor weights_, master_;
  std::vector<Tensor> moments_;
  std::shared_ptr<const Shards> shards_{};
  Tensor wide_{};  ///< shared: the parameters in the master's format, which otherwise lie in the master
  std::shared_ptr<Gradients::Step> gradients_;
  std::optional<DeviceValue<kernels::StepOutcome>> last_;
};

}  // namespace tinymp
