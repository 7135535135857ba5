#include <tinymp/train/resident_texts.h>

namespace tinymp::train {
namespace {

/// The steps of an epoch times the numbers in one, in bytes.
std::size_t bytes_of_epoch(const data::TextExamples& texts, std::int64_t of_step, std::int64_t of_text) {
  return static_cast<std::size_t>(texts.count() / of_step * of_step * of_text) * sizeof(std::int32_t);
}

const std::int32_t* numbers(const Storage& of) { return reinterpret_cast<const std::int32_t*>(of.data()); }

void copy_numbers(const std::vector<std::int32_t>& from, const Storage& to) {
  allocator(to.device()).copy_in(to.data(), from.data(), from.size() * sizeof(std::int32_t));
}

}  // namespace

ResidentTexts::ResidentTexts(const data::TextExamples& texts, std::int64_t batch, std::int64_t micro_batches,
                             Device device)
    : texts_(texts),
      batch_(batch),
      micro_batches_(micro_batches),
      tokens_(bytes_of_epoch(texts, batch * micro_batches, texts.steps()), device),
      labels_(bytes_of_epoch(texts, batch * micro_batches, texts.asked()), device),
      before_(device) {
  if (texts.aim() == data::TextAim::masked_tokens)
    asked_.emplace(bytes_of_epoch(texts, batch * micro_batches, texts.asked()), device);
}

void ResidentTexts::copy(const data::TextRows& rows) const {
  copy_numbers(rows.tokens, tokens_);
  copy_numbers(rows.labels, labels_);
  if (!asked_) return;
  std::vector<std::int32_t> places = rows.asked;
  for (std::int32_t& place : places) place %= static_cast<std::int32_t>(batch_ * texts_.steps());
  copy_numbers(places, *asked_);
}

void ResidentTexts::follow(const data::Loader& loader, std::int64_t steps) {
  const data::Loader::Position now = loader.position();
  if (epoch_ != now.epoch) copy(loader.texts(0, loader.batches_per_epoch() * micro_batches_ * batch_));
  epoch_ = now.epoch;
  const std::int64_t first = steps - now.drawn;
  if (first_ != first) before_.write(first);
  first_ = first;
}

data::Batch ResidentTexts::next(const StepRecords& records, std::int64_t micro_batch) const {
  const Device device = tokens_.device();
  const auto last = static_cast<std::int32_t>(texts_.words() - 1);
  const std::int64_t of_tokens = batch_ * texts_.steps(), of_labels = batch_ * texts_.asked();
  data::Batch batch{Tensor(), {}, Indices(of_labels, 0, last, device)};
  batch.texts = Texts{.tokens = Indices(of_tokens, 0, last, device), .steps = texts_.steps()};
  std::span<std::int32_t> asked;
  if (asked_) {
    batch.texts->asked = Indices(of_labels, 0, static_cast<std::int32_t>(of_tokens - 1), device);
    asked = batch.texts->asked->written();
  }
  const kernels::TextSource source{.tokens = numbers(tokens_),
                                   .asked = asked_ ? numbers(*asked_) : nullptr,
                                   .labels = numbers(labels_),
                                   .place = {before_.cell().memory, micro_batches_, micro_batch},
                                   .device = device};
  kernels::gather_texts(source, records.cell(), batch.texts->tokens.written(), asked, batch.there->written());
  return batch;
}

}  // namespace tinymp::train
