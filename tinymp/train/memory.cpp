#include <tinymp/train/memory.h>

namespace tinymp::train {

MemoryMeter::MemoryMeter(const nn::Module& model, const Optimizer& optimizer, MemoryWatcher* watcher) {
  account_->set_watcher(watcher);
  const MemoryRegion region(account_);
  optimizer.weights().count_as(MemoryKind::weights);
  if (optimizer.master().id() != optimizer.weights().id()) optimizer.master().count_as(MemoryKind::masters);
  for (const Tensor& moment : optimizer.moments()) moment.count_as(MemoryKind::optimizer);
  for (const Tensor& p : tensors(model.parameters()))
    if (const Tensor gradient = p.bound_grad()) gradient.count_as(MemoryKind::gradients);
  if (optimizer.is_shared())  // then parameters in the master's format lie beside it
    for (const Tensor& p : tensors(model.parameters())) p.count_as(MemoryKind::weights);
  for (const Tensor& buffer : model.buffers()) buffer.count_as(MemoryKind::weights);
}

void MemoryMeter::tell(RunResult& result) const {
  // Every step makes activations.
  if (account_->peak(MemoryKind::activations) == 0) return;
  result.peak_bytes = account_->peak();
  result.peak_without_scratch = account_->peak_without_scratch();
  result.memory = {.weights = account_->peak(MemoryKind::weights),
                   .masters = account_->peak(MemoryKind::masters),
                   .optimizer = account_->peak(MemoryKind::optimizer),
                   .gradients = account_->peak(MemoryKind::gradients),
                   .activations = account_->peak(MemoryKind::activations),
                   .workspace = account_->peak(MemoryKind::workspace),
                   .scratch = account_->peak(MemoryKind::scratch)};
}

}  // namespace tinymp::train
