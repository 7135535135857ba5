#include <kernels/kernels.h>
#include <lessons/lab/clinic/hand_loop.h>
#include <lessons/lab/clinic/micro_batches.h>
#include <lessons/lab/clinic/own_scales.h>
#include <lessons/lab/clinic/separate_softmax.h>
#include <lessons/lab/clinic/two_heads.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/autograd/nonfinite_tracer.h>
#include <tinymp/ops/ops.h>
#include <tinymp/train/first_bad.h>
#include <tinymp/train/meters.h>
#include <array>
#include <chrono>
#include <cmath>

namespace tinymp::clinic {
namespace {

using train::is_due, train::share;

class Hand {
 public:
  Hand(const train::Plan& plan, const Program& program)
      : plan_(plan),
        program_(program),
        model_(with_heads(train::make_model(plan, plan.recipe))),
        optimizer_(train::make_optimizer(plan, *model_)),
        products_(train::make_products(plan, *model_)),
        loader_(train::make_loader(plan)),
        shadow_(with_heads(train::make_model(plan, recipes::fp32))),
        s_(first_state(plan.recipe.scaling)) {}

  const nn::Model& model() const { return *model_; }
  /// In the formats of training.
  double result() const {
    for (TwoHeads* model : heads_) model->use_second(true);
    const Autocast region(plan_.recipe);
    const Float8Products::Region in_eight_bits(products_);
    return train::measure(plan_.task, *model_, plan_.data->test, plan_.pixels);
  }
  const std::optional<train::Finding>& finding() const { return finding_; }
  const std::optional<train::StepHistograms>& histograms() const { return histograms_; }

  train::LogRecord step(std::int64_t number) {
    batch_ = loader_.next();
    if (number == program_.damaged_step) *batch_.images.data<float>() = program_.damaged_pixel;
    if (program_.second_head_every > 0)
      for (TwoHeads* model : heads_) model->use_second(number % program_.second_head_every == 0);
    record_ = {.step = number, .scale = static_cast<double>(s_.scale)};
    record_.lr = static_cast<double>(optimizer_->learning_rate());
    record_.skipped = true;
    histograms_.reset();
    ends_here_ = false;
    was_zeroed_ = false;
    for (const std::string& line : program_.step) {
      if (!ends_here_) perform(line);
    }
    if (!was_zeroed_) keep();
    return record_;
  }

 private:
  std::unique_ptr<nn::Model> with_heads(std::unique_ptr<nn::Model> model) {
    if (auto* own = dynamic_cast<TwoHeads*>(model.get())) heads_.push_back(own);
    return model;
  }

  void perform(const std::string& line) {
    struct Call {
      const char* line;
      void (Hand::*does)();
    };
    static constexpr std::array<Call, 11> calls{{
        {"backward of loss", &Hand::backward_without_s},
        {"backward of S x loss", &Hand::backward},
        {means_line, &Hand::backward},
        {shares_line, &Hand::backward},
        {"divide gradients by S", &Hand::divide},
        {"clip to norm 1", &Hand::clip},
        {"step if all gradients are finite", &Hand::step_if_finite},
        {"step", &Hand::take_step},
        {"update S", &Hand::update_scale},
        {"zero_grad", &Hand::zero_grad},
        {"if one is not finite: update S, next batch", &Hand::next_batch_if_bad},
    }};
    const auto* call = std::ranges::find_if(calls, [&](const Call& c) { return line == c.line; });
    expect(call != calls.end(), "a step has the line '", line, "'");
    (this->*call->does)();
  }

  void backward() {
    tracer_.emplace(names_in(*model_));
    if (is_due(record_.step, plan_.shadow_every) || is_due(record_.step, plan_.histogram_every))
      shadow_.follow(*model_);
    {
      const Autocast region(plan_.recipe);
      if (program_.rolls_all_histories) places_ = products_.state().next.to_doubles();
      products_.begin_step();
      const Float8Products::Region in_eight_bits(products_);
      record_.loss = 0;
      for (const MicroBatch& part : parts_of(batch_, program_)) backward_of(part);
    }
    products_.end_step();
    if (program_.rolls_all_histories) roll_all_histories(products_, places_, plan_.recipe.eight_bits);
    if (program_.averages_move_in_forward) move_averages();
    gradients_.emplace(optimizer_->gradients());
    if (kept_) kernels::accumulate(kept_.view(), gradients_->view());
    if (!std::isfinite(record_.loss)) find("first bad");
  }

  void backward_of(const MicroBatch& part) {
    Tape tape(finding_ ? nullptr : &*tracer_);
    const Tensor loss = program_.separate_softmax
                            ? separate_softmax_loss((*model_)(part.batch.images), part.batch.labels)
                            : train::loss_of(plan_.task, *model_, part.batch);
    tape.backward(scale(loss, s_.scale * part.weight));
    record_.loss += static_cast<double>(part.weight) * loss.item();
  }

  /// S is 1: a division by it changes nothing.
  void backward_without_s() {
    backward();
    divide();
  }

  /// Moves the running averages now, without waiting for the step.
  void move_averages() {
    const DeviceValue<kernels::StepOutcome> taken(Device::cpu, {.taken = true, .updates = {}});
    for (const Tensor& p : tensors(model_->parameters())) {
      for (const OnStep& move : p.take_on_step()) move(taken.cell());
    }
  }

  void divide() {
    LossScaler scaler(StaticScaling{.factor = s_.scale});
    check_.emplace(scaler.unscale(*gradients_));
    const kernels::GradientCounts found = check_->counts();
    s_.bad = found.nonfinite > 0;
    record_.zero = share(found.zeros, found.values);
    record_.subnormal = share(found.subnormals, found.values);
    measure();
  }

  /// Clips the gradients as they are: the factor when they have been divided by S, else the values of .grad.
  void clip() {
    if (gradients_->unscaled()) {
      clip_norm(*gradients_, plan_.clip);
      return;
    }
    std::vector<float> values = gradients_->tensor().to_floats();
    double squares = 0;
    for (const float g : values) squares += static_cast<double>(g) * static_cast<double>(g);
    const auto factor = static_cast<float>(plan_.clip / (std::sqrt(squares) + 1e-6));
    if (!std::isfinite(squares) || factor >= 1) return;
    for (float& g : values) g *= factor;
    const Tensor clipped = Tensor::from(gradients_->tensor().shape(), values, gradients_->tensor().dtype());
    kernels::cast(clipped.view(), gradients_->view());
  }

  /// Reads the meters of the library, at the steps for which the config asks.
  void measure() {
    if (!s_.bad && is_due(record_.step, plan_.shadow_every))
      record_.flushed = shadow_.flushed(plan_.task, *model_, {&batch_, 1});
    if (is_due(record_.step, plan_.histogram_every))
      histograms_.emplace(record_.step, record_.scale, plan_.task, *model_,
                          std::span<const data::Batch>(&batch_, 1), &shadow_, train::masters_of(*optimizer_));
  }

  void step_if_finite() {
    if (!s_.bad) take_step();
  }

  void take_step() {
    const DeviceValue<kernels::StepOutcome> result = optimizer_->step(*gradients_, *check_);
    record_.skipped = false;
    if (s_.bad) return find("first bad");
    const kernels::UpdateCounts updates = result.read().updates;
    record_.underflowed = share(updates.underflowed, updates.values);
    record_.absorbed = share(updates.absorbed, updates.values);
    if (histograms_) histograms_->add_updates(*optimizer_, *gradients_);
  }

  void update_scale() {
    const LossScaling& scaling = plan_.recipe.scaling;
    if (!moves(scaling)) return;
    const ScaleState next = next_state(scaling, s_);
    if (s_.bad && next.scale < 1) find("scale below 1");
    s_ = next;
  }

  void zero_grad() {
    optimizer_->zero_grad();
    kept_ = {};
    was_zeroed_ = true;
  }

  void next_batch_if_bad() {
    if (!s_.bad) return;
    update_scale();
    ends_here_ = true;
  }

  /// Keeps the gradients: the next backward adds its own to them.
  void keep() {
    const Tensor& all = gradients_->tensor();
    kept_ = Tensor(all.shape(), all.dtype());
    kernels::cast(all.view(), kept_.view());
    optimizer_->zero_grad();
  }

  void find(const char* kind) {
    if (finding_) return;
    if (tracer_->first()) {
      finding_ = train::describe(*tracer_, record_.step, record_.scale);
    } else {
      finding_.emplace();
      finding_->step = record_.step;
      finding_->sentence = concat("Step ", record_.step,
                                  ": a gradient is not finite, yet this step's own forward and backward "
                                  "are finite throughout: what is not finite was there before the step.");
    }
    finding_->kind = kind;
  }

  const train::Plan& plan_;
  const Program& program_;
  std::vector<TwoHeads*> heads_;  ///< the models below, if they have two
  std::unique_ptr<nn::Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  Float8Products products_;
  data::Loader loader_;
  train::Shadow shadow_;
  ScaleState s_;

  data::Batch batch_;
  std::optional<Gradients> gradients_;
  std::optional<UnscaleResult> check_;
  Tensor kept_;                 ///< gradients of earlier steps
  std::vector<double> places_;  ///< in the histories of delayed scales, before the step
  bool ends_here_ = false, was_zeroed_ = false;
  train::LogRecord record_;

  std::optional<NonfiniteTracer> tracer_;
  std::optional<train::Finding> finding_;
  std::optional<train::StepHistograms> histograms_;
};

}  // namespace

train::Run hand_loop(const train::Plan& plan, const Program& program, const std::string& path) {
  Hand hand(plan, program);
  train::Run run{path, train::header_of(plan, hand.model()), {}, {}};
  train::RunLog log(path, run.header);
  run.header = log.header();
  train::RunResult result;
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t t = 1; t <= plan.steps; ++t) {
    const bool had_finding = hand.finding().has_value();
    train::LogRecord record = hand.step(t);
    result.skipped += record.skipped;
    result.taken += !record.skipped;
    record.skips = result.skipped;
    if (result.first_nonfinite_step == 0 && !std::isfinite(record.loss)) result.first_nonfinite_step = t;
    const bool measured = is_due(t, plan.shadow_every) || is_due(t, plan.histogram_every);
    if (t == plan.steps || is_due(t, plan.log_every) || measured) {
      log.write(record);
      run.steps.push_back(record);
      if (hand.histograms()) {
        log.write_sizes(hand.histograms()->sizes());
        run.sizes.push_back(hand.histograms()->sizes());
      }
    }
    if (!had_finding && hand.finding()) {
      log.note(*hand.finding());
      run.findings.push_back(*hand.finding());
    }
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.value = hand.result();
  log.finish(result);
  run.result = result;
  return run;
}

}  // namespace tinymp::clinic
