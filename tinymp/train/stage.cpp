#include <tinymp/nn/segments.h>
#include <tinymp/train/stage.h>
#include <algorithm>

namespace tinymp::train {
namespace {

/// Gives x memory of its own: an arena goes when all that lies in it has left.
void leave_arena(const Tensor& x) {
  const Tensor own = Tensor::like(x);
  x.move_into(own, 0);
}

}  // namespace

Stage::Stage(std::unique_ptr<nn::Model> model, dist::Transport& ranks)
    : model_(std::move(model)),
      parts_(dynamic_cast<const nn::StagedModel*>(model_.get())),
      rank_(ranks.rank()),
      count_(ranks.ranks()),
      links_(ranks) {
  if (parts_ == nullptr)
    throw UsageError(
        concat(model_->name(), " has no parts that could lie in several processes; a transformer has"));
  if (parts_->blocks() < count_)
    throw UsageError(concat(model_->name(), " has ", parts_->blocks(),
                            parts_->blocks() == 1 ? " block" : " blocks", ", and a pipeline of ", count_,
                            " ranks needs one for each"));
  std::int64_t end = 0;
  for (int r = 0; r < count_; ++r) {
    elements_.push_back({end, end});
    for (std::int64_t i = parts_of(r).begin; i < parts_of(r).end; ++i)
      for (const nn::Parameter& p : parts_->part(i).parameters) elements_.back().end += p.value.size();
    end = elements_.back().end;
  }
  const Range own = parts_of(rank_);
  for (std::int64_t i = 0; i <= parts_->blocks() + 1; ++i)
    for (const nn::Parameter& p : parts_->part(i).parameters) {
      const bool is_copy = is_last() && !is_first() && shared() && p.value.id() == shared().id();
      if (is_copy)
        leave_arena(p.value);
      else if (i < own.begin || i >= own.end)
        p.value.move_to(Device::meta);
    }
}

Stage::Range Stage::blocks_of(int rank) const {
  return {rank * parts_->blocks() / count_, (rank + 1) * parts_->blocks() / count_};
}

/// Block i is part i + 1.
Stage::Range Stage::parts_of(int rank) const {
  const Range blocks = blocks_of(rank);
  return {rank == 0 ? 0 : blocks.begin + 1, rank == count_ - 1 ? parts_->blocks() + 2 : blocks.end + 1};
}

Tensor Stage::run(const Tensor& x, const Texts& texts) const {
  const Range own = blocks_of(rank_);
  const auto block = [parts = parts_, first = own.begin, texts](std::int64_t i, const Tensor& y) {
    return parts->block(first + i, y, texts);
  };
  const Tensor y = nn::run_blocks(own.end - own.begin, is_first() ? parts_->enter(texts) : x, block);
  return is_last() ? parts_->leave(y, texts) : y;
}

Tensor Stage::read(const Texts& texts) const {
  Tensor x;
  if (!is_first()) x = links_.ask(rank_ - 1, activations_message, texts.tokens.size()).take();
  Tensor y = run(x, texts);
  if (!is_last()) links_.send(rank_ + 1, activations_message, y);
  if (is_last() && !is_first()) links_.send(0, answer_message, y);
  if (is_first() && !is_last()) {
    const std::int64_t asked = texts.asked ? texts.asked->size() : texts.tokens.size();
    y = links_.ask(count_ - 1, answer_message, asked).take();
  }
  links_.settle();
  return is_first() || is_last() ? y : Tensor();
}

Tensor Stage::operator()(const Tensor&) const {
  throw Error(concat(name(), " reads texts, and takes no images"));
}

std::vector<Tensor> Stage::own_parameters() const {
  std::vector<Tensor> own;
  for (std::int64_t i = parts_of(rank_).begin; i < parts_of(rank_).end; ++i)
    for (const nn::Parameter& p : parts_->part(i).parameters) own.push_back(p.value);
  return own;
}

std::vector<Tensor> Stage::own_buffers() const {
  std::vector<Tensor> own;
  for (std::int64_t i = parts_of(rank_).begin; i < parts_of(rank_).end; ++i)
    for (const Tensor& buffer : parts_->part(i).buffers) own.push_back(buffer);
  return own;
}

std::vector<std::int64_t> Stage::buffer_counts() const {
  std::vector<std::int64_t> counts;
  for (int r = 0; r < count_; ++r) {
    counts.push_back(0);
    for (std::int64_t i = parts_of(r).begin; i < parts_of(r).end; ++i)
      counts.back() += std::ssize(parts_->part(i).buffers);
  }
  return counts;
}

Tensor Stage::shared() const {
  const bool lies_in_two = count_ > 1 && (is_first() || is_last());
  return lies_in_two ? parts_->shared() : Tensor();
}

}  // namespace tinymp::train
