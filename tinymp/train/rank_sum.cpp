#include <kernels/kernels.h>
#include <tinymp/optim/optimizer.h>
#include <tinymp/train/rank_sum.h>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

namespace tinymp::train {
namespace {

std::span<const std::byte> bytes_of(const Tensor& x) {
  return {x.view().data<std::byte>(), static_cast<std::size_t>(x.size()) * size_of(x.dtype())};
}

/// Takes each gradient of a parameter as backward hands it over, before it is added to others. A bucket of them travels as
/// soon as it is full, while backward goes on.
class PartsTaker final : public Observer {
 public:
  PartsTaker(const std::vector<Tensor>& parameters, Observer* other, dist::ReduceScatter& sum)
      : other_(other), sum_(sum) {
    std::int64_t first = 0;
    for (const Tensor& p : parameters) {
      first_of_[p.id()] = first;
      first += p.size();
    }
  }

  void forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override {
    if (other_ != nullptr) other_->forward(op, inputs, output);
  }
  void backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output,
                const Tensor& dy, const std::vector<Tensor>& gradients) override {
    if (other_ != nullptr) other_->backward(op, inputs, output, dy, gradients);
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      const auto found = first_of_.find(inputs[i].id());
      if (found == first_of_.end() || !inputs[i].requires_grad()) continue;
      // A copy: the next gradient of this parameter may be computed in the same memory.
      const Tensor values = Tensor::like(gradients[i]);
      kernels::cast(gradients[i].view(), values.view());
      parts_.push_back({found->second, values});
      bytes_ += bytes_of(values).size();
      if (bytes_ >= RankSum::bucket_bytes) send();
      inputs[i].clear_grad();  // the next one is added by the ranks, not by the tape
    }
  }
  void narrowed(const Narrowed& tensor) override {
    if (other_ != nullptr) other_->narrowed(tensor);
  }
  void begin_again(const std::vector<Tensor>& inputs) override {
    if (other_ != nullptr) other_->begin_again(inputs);
  }
  void again(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) override {
    if (other_ != nullptr) other_->again(op, inputs, output);
  }

  const std::vector<dist::Part>& parts() const { return parts_; }
  /// Sends the parts that wait for others.
  void send() {
    if (sent_ < parts_.size()) sum_.begin(std::span(parts_).subspan(sent_));
    sent_ = parts_.size();
    bytes_ = 0;
  }

 private:
  Observer* other_;
  std::map<const void*, std::int64_t> first_of_;  ///< the place of each parameter in the arena
  dist::ReduceScatter& sum_;
  std::vector<dist::Part> parts_;
  std::size_t sent_ = 0, bytes_ = 0;  ///< parts that travel, and the bytes of the others
};

/// Which elements the parts are of, and in which formats.
std::uint64_t mark_of(std::span<const dist::Part> parts) {
  std::vector<std::int64_t> numbers;
  for (const dist::Part& part : parts)
    numbers.insert(numbers.end(),
                   {part.first, part.values.size(), static_cast<std::int64_t>(part.values.dtype())});
  return train::mark_of(std::as_bytes(std::span(numbers)));
}

std::int64_t nonfinite_in(std::span<const dist::Part> parts) {
  std::int64_t count = 0;
  for (const dist::Part& part : parts)
    for (const float value : part.values.to_floats()) count += !std::isfinite(value);
  return count;
}

/// What a rank tells the others in each step, before the losses of its micro-batches.
struct Word {
  std::uint64_t parts = 0, weights = 0;  ///< their marks
  std::uint64_t stops = 0;               ///< 1: it was asked to
};

/// The rank whose number is none that most ranks have; -1: all have the same. Of two, the second.
int odd_one(const std::vector<std::uint64_t>& numbers) {
  const auto count = [&](std::uint64_t number) { return std::ranges::count(numbers, number); };
  const std::uint64_t usual = *std::ranges::max_element(numbers, {}, count);
  const auto odd = std::ranges::find_if(numbers, [&](std::uint64_t number) { return number != usual; });
  return odd == numbers.end() ? -1 : static_cast<int>(odd - numbers.begin());
}

}  // namespace

std::uint64_t mark_of(std::span<const std::byte> bytes, std::uint64_t before) {
  std::uint64_t mark = before;
  for (std::size_t at = 0; at < bytes.size(); at += sizeof mark) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
    mark = (mark ^ word) * 0x100000001b3;
    mark ^= mark >> 32;  // a multiplication alone moves no bit down
  }
  return mark;
}

void expect_shareable(const Plan& plan) {
  const int ranks = plan.ranks->ranks();
  const auto refuse = [&](const auto&... parts) {
    throw UsageError(concat("the plan '", plan.name, "' cannot be shared by ", ranks, " ranks: ", parts...));
  };
  if (plan.micro_batches % ranks != 0)
    refuse("a step has ", plan.micro_batches, " micro-batches, which they cannot share equally");
  if (plan.device != Device::cpu)
    refuse("it trains on ", plan.device, ", and ranks exchange what lies on the CPU");
  if (plan.recipe.eight_bits.any())
    refuse("its products are in FP8, whose scales each process would choose alone");
}

RankSum::RankSum(const Plan& plan, const nn::Model& model, const Optimizer& optimizer,
                 const RankShards* shards)
    : plan_(plan),
      ranks_(*plan.ranks),
      optimizer_(optimizer),
      shards_(shards),
      parameters_(tensors(model.parameters())),
      wire_(plan.wire, plan.ranks->ranks(), parameters_) {
  for (const Tensor& buffer : model.buffers())
    if (buffer.shape() == Shape{} && buffer.dtype() == DType::f64) dropouts_.push_back(buffer);
}

Accumulated RankSum::accumulate(std::int64_t step, LossScaler& scaler, Observer* observer,
                                const BackwardOf& backward_of) {
  if (shards_ != nullptr) shards_->tell(RankShards::Next::step);
  const std::int64_t own = plan_.micro_batches / ranks_.ranks(), first = own * ranks_.rank();
  const bool rounds = plan_.wire.rounds();
  dist::ReduceScatter sum(ranks_, owned());
  PartsTaker taker(parameters_, observer, sum);
  Observer* const seen_by = rounds ? observer : &taker;  // else this rank adds up its own as one process does
  std::vector<dist::Part> parts;
  std::vector<float> losses;
  {
    const nn::HeldMoves moves;
    count_dropouts(first);
    for (std::int64_t i = first; i < first + own; ++i) {
      const Tensor loss = backward_of(i, scaler.seed(plan_.device, 1), seen_by);
      losses.push_back(static_cast<float>(loss.item()));
    }
    count_dropouts(plan_.micro_batches - first - own);
    if (!rounds) {
      taker.send();
      sum.wait();
    }
    parts = rounds ? wire_.own() : taker.parts();
    losses = agree(step, losses, parts);
    stage_moves(moves.all());
  }
  if (plan_.found_inf != FoundInf::of_sum) own_nonfinite_ = nonfinite_in(parts);
  rounds ? sum_on_wire(parts) : add_up(step, sum, parts);
  // All passes are over: this computes the mean of their losses, in the same way.
  const std::vector<std::int64_t> sizes(losses.size(), plan_.batch);
  const Accumulated mean = train::accumulate(sizes, plan_.device, scaler, [&](std::int64_t i, const Tensor&) {
    return Tensor::from(Shape{}, std::span(&losses[static_cast<std::size_t>(i)], 1));
  });
  return rounds ? wire_.mean_of(mean) : mean;
}

void RankSum::decide(UnscaleResult& check) const {
  if (plan_.found_inf == FoundInf::of_sum) return;
  if (plan_.found_inf == FoundInf::own) return check.set_nonfinite(own_nonfinite_);
  // Finite gradients may have a sum that is not.
  check.set_nonfinite(std::max(check.counts().nonfinite, dist::largest(ranks_, own_nonfinite_)));
}

std::vector<float> RankSum::agree(std::int64_t step, const std::vector<float>& losses,
                                  std::span<const dist::Part> parts) {
  Word word{.parts = mark_of(parts), .stops = plan_.stop && plan_.stop() ? 1U : 0U};
  if (step % plan_.compare_every == 0) word.weights = mark_of_weights();
  std::vector<std::byte> message(sizeof word + losses.size() * sizeof(float));
  std::memcpy(message.data(), &word, sizeof word);
  std::memcpy(message.data() + sizeof word, losses.data(), losses.size() * sizeof(float));
  std::vector<float> all;
  std::vector<std::uint64_t> marks, weights;
  stops_ = false;
  for (const std::vector<std::byte>& told : dist::all_gather(ranks_, message)) {
    std::memcpy(&word, told.data(), sizeof word);
    marks.push_back(word.parts);
    weights.push_back(word.weights);
    stops_ = stops_ || word.stops != 0;
    all.resize(all.size() + losses.size());
    std::memcpy(all.data() + all.size() - losses.size(), told.data() + sizeof word,
                losses.size() * sizeof(float));
  }
  if (const int odd = odd_one(weights); odd >= 0)
    throw Error(concat("rank ", odd, " has other weights than the others before step ", step,
                       ": the ranks have drifted apart, and no further step would be that of one model"));
  if (const int odd = odd_one(marks); odd >= 0)
    throw Error(concat("rank ", odd, " has gradients of other parameters than the others in step ", step,
                       "; ranks can share a model that takes the same course with all data"));
  return all;
}

/// Marks what all ranks have: the masters, or the parameters where each rank has a part of the masters. Such ranks cannot
/// drift for long: each weight comes from the one rank that updates it.
std::uint64_t RankSum::mark_of_weights() const {
  if (shards_ == nullptr) return train::mark_of(bytes_of(optimizer_.master()));
  std::uint64_t mark = train::mark_of({});
  for (const Tensor& p : parameters_) mark = train::mark_of(bytes_of(p), mark);
  return mark;
}

/// The elements of the gradients that each rank adds up.
std::vector<dist::Owned> RankSum::owned() const {
  return shards_ != nullptr ? shards_->owned()
                            : dist::equally_owned(ranks_.ranks(), optimizer_.weights().size());
}

void RankSum::add_up(std::int64_t step, dist::ReduceScatter& sum, std::span<const dist::Part> parts) const {
  View arena =
      parameters_.front().bound_grad().view();  // the first of all gradients, which lie one after another
  arena.shape = optimizer_.weights().shape();
  sum.add_to(arena);
  if (shards_ == nullptr || is_due(step, plan_.shadow_every) || is_due(step, plan_.histogram_every))
    dist::all_gather(ranks_, arena, owned());
  std::int64_t first = 0;
  for (const Tensor& p : parameters_) {
    const bool has_part =
        std::ranges::any_of(parts, [&](const dist::Part& part) { return part.first == first; });
    if (has_part) p.set_grad(p.bound_grad());
    first += p.size();
  }
}

void RankSum::sum_on_wire(std::span<const dist::Part> parts) const {
  const Tensor total = wire_.empty_sum();
  dist::sum_in_rank_order(ranks_, parts, total.view());
  wire_.put_back(parts, total);
}

/// Stages what the micro-batches of all ranks do to the averages. Each rank sends the statistics of its own.
void RankSum::stage_moves(const std::vector<nn::AveragesMove>& own) const {
  std::vector<std::byte> statistics;
  const auto for_each = [&](const auto& take) {
    for (const nn::AveragesMove& move : own) {
      take(move.batch.mean);
      take(move.batch.variance);
    }
  };
  for_each([&](const Tensor& x) {
    const std::span<const std::byte> bytes = bytes_of(x);
    statistics.insert(statistics.end(), bytes.begin(), bytes.end());
  });
  if (statistics.empty()) return;  // on all ranks
  for (const std::vector<std::byte>& of_rank : dist::all_gather(ranks_, statistics)) {
    const std::byte* at = of_rank.data();
    const auto next = [&](const Tensor& like) {
      Tensor x = Tensor::like(like);
      std::memcpy(x.view().memory, at, bytes_of(x).size());
      at += bytes_of(x).size();
      return x;
    };
    for (nn::AveragesMove move : own) {
      move.batch.mean = next(move.batch.mean);
      move.batch.variance = next(move.batch.variance);
      move.stage();
    }
  }
}

/// Counts the forward passes of other ranks.
void RankSum::count_dropouts(std::int64_t micro_batches) const {
  for (const Tensor& count : dropouts_) {
    const Tensor more = Tensor::like(count);
    kernels::fill(more.view(), static_cast<double>(micro_batches));
    kernels::accumulate(more.view(), count.view());
  }
}

}  // namespace tinymp::train
