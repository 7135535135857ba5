#include <kernels/kernels.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/dist/collectives.h>
#include <tinymp/train/accumulate.h>
#include <tinymp/train/pipeline.h>
#include <tinymp/train/training.h>
#include <cstring>
#include <limits>

// A step of a pipeline.
namespace tinymp::train {
namespace {

using Clock = std::chrono::steady_clock;

/// Takes each gradient of the shared parameter as backward hands it over; the first rank adds them up.
class SharedTaker final : public Observer {
 public:
  explicit SharedTaker(Tensor shared) : shared_(std::move(shared)) {}

  void forward(const Op&, const std::vector<Tensor>&, const Tensor&) override {}
  void backward(const std::string&, const std::vector<Tensor>& inputs, const Tensor&, const Tensor&,
                const std::vector<Tensor>& gradients) override {
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (inputs[i].id() != shared_.id()) continue;
      taken_.push_back(gradients[i]);
      shared_.clear_grad();
    }
  }

  /// The one gradient: a model that reads the parameter several times behind its blocks would hand over more.
  const Tensor& taken() const {
    expect(taken_.size() == 1, "Pipeline: the last part of the model has ", taken_.size(),
           " gradients of the parameter that it shares with the first, not one");
    return taken_[0];
  }

 private:
  Tensor shared_;
  std::vector<Tensor> taken_;
};

template <class T>
void append(std::string& message, std::span<const T> values) {
  message.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
}

/// The next `count` values of a message, which begins behind them afterwards.
template <class T>
std::vector<T> next(std::string_view& message, std::size_t count) {
  std::vector<T> values(count);
  std::memcpy(values.data(), message.data(), count * sizeof(T));
  message.remove_prefix(count * sizeof(T));
  return values;
}

}  // namespace

/// A micro-batch that waits for its backward.
struct Pipeline::MicroBatch {
  MicroBatch(Tensor input, const Tensor& shared, const Tensor& seed)
      : x(std::move(input)), taker(shared), tape(shared ? &taker : nullptr, seed) {}

  Tensor x;  ///< what the rank before has made; empty on the first rank
  SharedTaker taker;
  Tape tape;
  Tensor y{};  ///< what goes to the next rank; the loss on the last
};

/// What all ranks have told after their passes.
struct Pipeline::Agreed {
  kernels::GradientCounts found;
  double squares = 0;
  std::vector<float> losses;
};

Pipeline::~Pipeline() = default;

std::vector<float> Pipeline::forward(const MicroBatches& batches) {
  dist::TensorLinks& links = stage_->links();
  const int before = ranks_.rank() - 1;
  std::vector<float> losses;
  dist::Coming coming;
  for (std::int64_t i = 0; i < plan_.micro_batches; ++i) {
    const data::Batch batch = batches.get(i);
    Tensor x;
    if (!stage_->is_first()) {
      const std::int64_t rows = batch.texts->tokens.size();
      if (i == 0) coming = links.ask(before, activations_message, rows);
      x = coming.take();
      // The next one may arrive while this one is computed.
      if (i + 1 < plan_.micro_batches) coming = links.ask(before, activations_message, rows);
      x.set_requires_grad(true);
      x.mark_computed();  // autocast takes it for no parameter
    }
    const Tensor shared = stage_->is_last() ? stage_->shared() : Tensor();
    MicroBatch& here =
        *running_.emplace_back(std::make_shared<MicroBatch>(x, shared, parts_.scaler.seed(plan_.device, 1)));
    std::optional<nn::Recomputing> segments;
    if (plan_.recompute.any()) segments.emplace(plan_.recompute);
    here.y = stage_->run(x, *batch.texts);
    if (stage_->is_last()) {
      here.y = loss_of(plan_.task, here.y, batch);
      losses.push_back(static_cast<float>(here.y.item()));
    }
    here.tape.stop();
    if (!stage_->is_last()) links.send(ranks_.rank() + 1, activations_message, here.y);
  }
  return losses;
}

void Pipeline::backward() {
  dist::TensorLinks& links = stage_->links();
  const Tensor shared = stage_->shared();
  const int last = ranks_.ranks() - 1, behind = ranks_.rank() + 1;
  dist::Coming of_shared, of_output;
  const auto ask = [&](std::size_t i) {
    if (i == running_.size()) return;
    if (stage_->is_first() && shared) of_shared = links.ask(last, shared_message, shared.shape()[0]);
    if (!stage_->is_last()) of_output = links.ask(behind, gradient_message, running_[i]->y.shape()[0]);
  };
  ask(0);
  for (std::size_t i = 0; i < running_.size(); ++i) {
    MicroBatch& here = *running_[i];
    if (stage_->is_last()) {
      here.tape.backward(here.y);
      if (shared) links.send(0, shared_message, here.taker.taken());
    } else {
      if (stage_->is_first() && shared) take_shared(of_shared.take());
      const Tensor gradient = of_output.take();
      ask(i + 1);
      here.tape.backward(here.y, gradient);
    }
    if (!stage_->is_first()) links.send(ranks_.rank() - 1, gradient_message, here.x.grad());
    running_[i].reset();
  }
  running_.clear();
  links.settle();
}

/// As the tape adds a gradient to one that is bound.
void Pipeline::take_shared(const Tensor& gradient) const {
  const Tensor shared = stage_->shared(), sum = shared.bound_grad();
  if (shared.grad()) {
    kernels::accumulate(gradient.view(), sum.view());
    return;
  }
  kernels::cast(gradient.view(), sum.view());
  shared.set_grad(sum);
}

Pipeline::Agreed Pipeline::agree(const Gradients& gradients, const UnscaleResult& check,
                                 const std::vector<float>& losses) {
  struct Word {
    kernels::GradientCounts found;
    Times times;
    std::uint64_t stops = 0;
  };
  const std::vector<ElementRange>& elements = stage_->elements();
  const std::int64_t all = elements.back().end;
  const Word own{check.counts(), own_, plan_.stop && plan_.stop() ? 1U : 0U};
  std::string message;
  append(message, std::span(&own, 1));
  append(message, std::span<const float>(losses));
  append(message, std::span<const double>(
                      squares_of(gradients.tensor(), gradients.factor(), stage_->own_elements(), all)));
  Agreed agreed;
  std::vector<std::vector<double>> squares;
  times_.clear();
  stops_ = false;
  const std::vector<std::string> told = dist::all_gather(ranks_, message);
  for (std::size_t r = 0; r < told.size(); ++r) {
    std::string_view rest = told[r];
    const Word word = next<Word>(rest, 1)[0];
    agreed.found += word.found;
    times_.push_back(word.times);
    stops_ = stops_ || word.stops != 0;
    if (r + 1 == told.size())
      agreed.losses = next<float>(rest, static_cast<std::size_t>(plan_.micro_batches));
    squares.push_back(next<double>(rest, rest.size() / sizeof(double)));
  }
  agreed.squares = sum_of_squares(squares, elements, all);
  return agreed;
}

/// Counts the updates of all ranks.
void Pipeline::add_updates(const DeviceValue<kernels::StepOutcome>& outcome) {
  kernels::StepOutcome sum = outcome.read();
  const kernels::UpdateCounts own = sum.updates;
  sum.updates = {};
  for (const std::vector<std::byte>& told : dist::all_gather(ranks_, std::as_bytes(std::span(&own, 1)))) {
    kernels::UpdateCounts counts;
    std::memcpy(&counts, told.data(), sizeof counts);
    sum.updates += counts;
  }
  outcome.write(sum);
}

/// The last rank has no optimizer of the shared parameter.
void Pipeline::hand_on_shared() {
  const Tensor shared = stage_->shared();
  if (!shared) return;
  dist::TensorLinks& links = stage_->links();
  if (stage_->is_first()) {
    links.send(ranks_.ranks() - 1, values_message, shared);
    links.settle();
    return;
  }
  kernels::cast(links.ask(0, values_message, shared.shape()[0]).take().view(), shared.view());
  parameters_changed();
}

PendingStep Pipeline::step(std::int64_t number, const MicroBatches& batches, const StepRecords& records) {
  Optimizer& optimizer = *parts_.optimizer;
  LossScaler& scaler = parts_.scaler;
  const Clock::time_point begin = Clock::now();
  const double waited = ranks_.waited();
  const std::vector<float> losses = [&] {
    const Autocast region(plan_.recipe);
    std::vector<float> of_forward = forward(batches);
    backward();
    return of_forward;
  }();
  Gradients gradients = optimizer.gradients(static_cast<double>(plan_.micro_batches));
  UnscaleResult check = scaler.unscale(gradients);
  const Agreed agreed = agree(gradients, check, losses);
  if (steps_++ > 0) {  // the first one takes memory
    own_.waited += ranks_.waited() - waited;
    own_.all += std::chrono::duration<double>(Clock::now() - begin).count();
  }
  // No norm is above infinity: that limit clips nothing.
  check.join(agreed.found, agreed.squares,
             plan_.clip > 0 ? plan_.clip : std::numeric_limits<float>::infinity());
  const DeviceValue<kernels::StepOutcome> outcome = optimizer.step(gradients, check);
  add_updates(outcome);
  hand_on_shared();
  // The mean of the losses, computed as in one process.
  const Accumulated sum = accumulate(batches.sizes, plan_.device, scaler, [&](std::int64_t i, const Tensor&) {
    return Tensor::from(Shape{}, std::span(&agreed.losses[static_cast<std::size_t>(i)], 1));
  });
  scaler.update(std::move(check), sum.loss, outcome, records);
  optimizer.zero_grad();
  return {number, not_measured, optimizer.learning_rate(), true};
}

std::vector<double> Pipeline::waited() const {
  std::vector<double> shares;
  for (const Times& times : times_) shares.push_back(times.all > 0 ? times.waited / times.all : 0);
  return shares;
}

}  // namespace tinymp::train
