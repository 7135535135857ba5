#include <kernels/cpu/chunk_squares.h>
#include <tinymp/optim/optimizer.h>
#include <algorithm>

// The arenas of an optimizer, whole or shared with other processes: shards.h.
namespace tinymp {
namespace {

Tensor copy_of(const Tensor& x, Device where) {
  if (x.device() != where) return x.to(where);
  Tensor copy = Tensor::like(x);
  kernels::cast(x.view(), copy.view());
  return copy;
}

/// What a process has of a block.
View part_of(const View& block, const Shards::Range& range) {
  View part = block;
  part.memory = block.data<std::byte>() + static_cast<std::size_t>(range.begin) * size_of(block.dtype);
  part.shape = Shape{range.size()};
  return part;
}

}  // namespace

// Gradients.
// ----------------------------------------------------------------------------------------------------

View Gradients::Step::own() const { return shards ? part_of(arena.view(), shards->own()) : arena.view(); }

void Gradients::Step::unscale(Cell<const ScaleState> scale, Cell<kernels::GradientCounts> found) const {
  kernels::unscale(own(), scale, found, factor.cell());
  if (shards) agree(*shards, *found.memory);
  if (micro_batches == 1) return;
  const View cell = Tensor::over(factor.storage(), 0, DType::f32).view();
  kernels::scale(cell, 1 / micro_batches, cell);
}

void Gradients::Step::clip(float max_norm, const View& norm) const {
  if (!shards) return kernels::clip(arena.view(), max_norm, factor.cell(), norm);
  const std::vector<Shards::Range> chunks = shards->chunks();
  const Tensor sums({chunks.back().end}, DType::f64);
  kernels::cpu::chunk_squares(own(), factor.read(), part_of(sums.view(), chunks[shards->own_number()]));
  shards->all_gather(sums.view(), chunks);
  kernels::cpu::clip_by_chunks(sums.view(), max_norm, factor.cell(), norm);
}

// Masters and moments.
// ----------------------------------------------------------------------------------------------------

kernels::UpdateArenas Optimizer::arenas() const {
  const Shards::Range own = is_shared() ? shards_->own() : Shards::Range{0, weights_.size()};
  const View weights = part_of(weights_.view(), own);
  kernels::UpdateArenas arenas{
      weights, has_master() ? master_.view() : weights, part_of(gradients_->arena.view(), own), {}};
  for (std::size_t m = 0; m < rule_moments(); ++m) arenas.moments[m] = moments_[m].view();
  if (has_compensation()) arenas.compensation = moments_.back().view();
  arenas.rounding = rounding_;
  arenas.first = own.begin;
  return arenas;
}

void Optimizer::share(std::shared_ptr<const Shards> shards) {
  expect(!is_shared(), name_, ": this optimizer is shared already");
  expect(step_.device() == Device::cpu, name_, ": parameters on ", step_.device(),
         " cannot be shared by processes, which exchange what lies on the CPU");
  expect(shards->size() == weights_.size(), name_, ": shares of ", shards->size(), " values, of ",
         weights_.size());
  const auto own_part = [&](const Tensor& arena) {
    return copy_of(arena.slice(shards->own().begin, Shape{shards->own().size()}), Device::cpu);
  };
  if (has_master()) {
    move_wide_parameters();
    master_ = own_part(master_);
  }
  for (Tensor& moment : moments_) moment = own_part(moment);
  shards_ = std::move(shards);
  gradients_->shards = shards_;
}

/// Parameters that the model reads from the master need a place of their own, for all of them.
void Optimizer::move_wide_parameters() {
  std::int64_t size = 0;
  for (const Tensor& p : parameters_)
    if (p.dtype() != weights_.dtype()) size += p.size();
  wide_ = Tensor({size}, master_.dtype());
  std::int64_t at = 0;
  for (const Tensor& p : parameters_) {
    if (p.dtype() == weights_.dtype()) continue;
    p.move_into(wide_, at);
    at += p.size();
  }
}

/// After the update of the own range: hands the new weights to the others.
void Optimizer::share_update(kernels::StepOutcome& outcome) const {
  if (!outcome.taken) return;  // on no rank: `found` is that of all
  kernels::UpdateCounts& updates = outcome.updates;
  std::int64_t all[] = {updates.values, updates.underflowed, updates.absorbed};
  shards_->sum(all);
  updates = {all[0], all[1], all[2]};
  shards_->all_gather(weights_.view(), shards_->ranges());
  if (wide_ && wide_.size() > 0) share_wide_parameters();
}

void Optimizer::share_wide_parameters() const {
  std::vector<Shards::Range> ranges(shards_->ranges().size());  // of wide_, which has the order of the arena
  std::int64_t offset = 0, at = 0;
  for (const Tensor& p : parameters_) {
    const std::int64_t end = offset + p.size();
    const auto in_p = [&](const Shards::Range& range) {
      return Shards::Range{std::clamp(range.begin, offset, end), std::clamp(range.end, offset, end)};
    };
    if (p.dtype() != weights_.dtype()) {
      for (std::size_t r = 0; r < ranges.size(); ++r) ranges[r].end += in_p(shards_->ranges()[r]).size();
      const Shards::Range own = in_p(shards_->own());
      const std::int64_t first = shards_->own().begin, place = at + own.begin - offset;
      if (own.size() > 0)
        kernels::cast(part_of(master_.view(), {own.begin - first, own.end - first}),
                      part_of(wide_.view(), {place, place + own.size()}));
      at += p.size();
    }
    offset = end;
  }
  for (std::size_t r = 1; r < ranges.size(); ++r) {
    ranges[r].begin = ranges[r - 1].end;
    ranges[r].end += ranges[r].begin;
  }
  shards_->all_gather(wide_.view(), ranges);
}

Optimizer::State Optimizer::state(Device where) const {
  if (is_shared()) shards_->begin_collecting();
  State saved{steps(), learning_rate_, copy_of(weights_, where), {}, {}};
  saved.master = is_shared() && has_master() ? shards_->collect(master_) : copy_of(master_, where);
  for (const Tensor& m : moments_)
    saved.moments.push_back(is_shared() ? shards_->collect(m) : copy_of(m, where));
  return saved;
}

}  // namespace tinymp
