#include <tinymp/train/memory_ledger.h>
#include <algorithm>
#include <numeric>
#include <utility>

namespace tinymp::train {

using Phase = StepPart::Phase;

std::int64_t MemoryMoment::sum() const { return std::accumulate(of.begin(), of.end(), std::int64_t{0}); }

std::string describe(const StepPart& part) {
  switch (part.phase) {
    case Phase::before:
      return "before the first op";
    case Phase::forward:
      return concat("forward of ", part.op, " ", part.shape);
    case Phase::again:
      return concat("second forward of ", part.op, " ", part.shape);
    case Phase::backward:
      return concat("backward of ", part.op, " ", part.shape);
    case Phase::after:
      break;
  }
  return "behind the tape: unscale, optimizer, scale";
}

void MemoryLedger::begin_step() {
  ++step_;
  parts_.clear();
  forward_parts_.clear();
  kept_.clear();
  most_of_part_ = sum_;
  most_activations_ = now_[MemoryKind::activations];
  attributed_ = true;
  running_ = from_before_ = 0;
  runs_back_ = true;
}

void MemoryLedger::end_step() {
  if (!attributed_) attribute_activations();
  // Ops that backward did not reach.
  for (std::size_t part = 0; part < kept_.size(); ++part) drop_kept(part);
  end_part({.phase = Phase::after});
}

void MemoryLedger::add(MemoryKind kind, std::int64_t bytes) {
  now_[kind] += bytes;
  sum_ += bytes;
  most_[kind] = std::max(most_[kind], now_[kind]);
  most_of_part_ = std::max(most_of_part_, sum_);
  if (sum_ > peak_) {
    peak_ = sum_;
    at_peak_ = now_;
    higher_ = true;
  }
  if (now_[MemoryKind::activations] > most_activations_) {
    most_activations_ = now_[MemoryKind::activations];
    attributed_ = false;
  }
}

void MemoryLedger::taken(const void* block, MemoryKind kind, std::int64_t bytes) {
  constexpr std::int64_t most = std::int64_t{1} << 62;  // beyond it sums of 64 bits would wrap
  if (bytes < 0 || bytes > most - sum_)
    throw MemoryLimitError("too many bytes to count: the tensors of the step take more than 2^62");
  blocks_[block] = {kind, bytes, parts_.size(), step_};
  if (saved_ == Saved::all && kept_.size() <= parts_.size())
    kept_.resize(parts_.size() + 1);  // given_back() cannot: it may not throw
  add(kind, bytes);
}

void MemoryLedger::given_back(const void* block) noexcept {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return;  // taken before the ledger watched
  const Block gone = found->second;
  if (gone.kind == MemoryKind::activations && !attributed_) attribute_activations();
  blocks_.erase(found);
  const bool stays =
      saved_ == Saved::all && !runs_back_ && gone.step == step_ && gone.kind == MemoryKind::activations;
  if (!stays) return add(gone.kind, -gone.bytes);
  kept_[gone.part] += gone.bytes;
}

void MemoryLedger::moved(const void* block, MemoryKind to) {
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return;
  if (found->second.kind == MemoryKind::activations && !attributed_) attribute_activations();
  const std::int64_t bytes = found->second.bytes;
  const MemoryKind from = std::exchange(found->second.kind, to);
  now_[from] -= bytes;
  sum_ -= bytes;
  add(to, bytes);
}

/// Ops tell what they make inside as "attention: scores", before they are done: that is no part of its own.
void MemoryLedger::run(Phase phase, const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) {
  if (op.name.find(": ") != std::string::npos) return;
  runs_back_ = false;
  const bool is_recorded = std::ranges::any_of(inputs, [](const Tensor& x) { return x.requires_grad(); });
  if (is_recorded) forward_parts_[output.id()] = parts_.size();
  end_part({.phase = phase, .op = op.name, .shape = output.shape(), .dtype = output.dtype()});
  if (!is_recorded) drop_kept(parts_.size() - 1);
}

void MemoryLedger::forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) {
  run(Phase::forward, op, inputs, output);
}

void MemoryLedger::begin_again(const std::vector<Tensor>&) { runs_back_ = false; }

void MemoryLedger::again(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) {
  run(Phase::again, op, inputs, output);
}

void MemoryLedger::backward(const std::string& op, const std::vector<Tensor>&, const Tensor& output,
                            const Tensor&, const std::vector<Tensor>&) {
  runs_back_ = true;
  end_part({.phase = Phase::backward, .op = op, .shape = output.shape(), .dtype = output.dtype()});
  if (const auto found = forward_parts_.find(output.id()); found != forward_parts_.end())
    drop_kept(found->second);
}

void MemoryLedger::end_part(StepPart part) {
  part.most = most_of_part_;
  part.then = now_;
  part.activations = std::exchange(running_, 0);
  if (std::exchange(higher_, false)) heaviest_ = part;
  parts_.push_back(std::move(part));
  most_of_part_ = sum_;
}

/// Writes down which part holds which activations now.
void MemoryLedger::attribute_activations() {
  attributed_ = true;
  running_ = from_before_ = 0;
  for (StepPart& part : parts_) part.activations = 0;
  const auto of = [this](std::size_t part) -> std::int64_t& {
    return part < parts_.size() ? parts_[part].activations : running_;
  };
  for (const auto& [id, block] : blocks_)
    if (block.kind == MemoryKind::activations)
      (block.step == step_ ? of(block.part) : from_before_) += block.bytes;
  for (std::size_t part = 0; part < kept_.size(); ++part) of(part) += kept_[part];
}

void MemoryLedger::drop_kept(std::size_t part) {
  if (part >= kept_.size() || kept_[part] == 0) return;
  if (!attributed_) attribute_activations();
  add(MemoryKind::activations, -std::exchange(kept_[part], 0));
}

}  // namespace tinymp::train
