#pragma once

#include <tinymp/base/memory_account.h>
#include <tinymp/nn/module.h>
#include <tinymp/optim/optimizer.h>
#include <tinymp/train/run_log.h>
#include <memory>

/// The bytes that a training takes, by kind, measured. Blocks count with the bytes that were asked for; the
/// pool may round them up. What lies on the CPU beside another device, the batch before it goes there, does not count.
///
///   const MemoryMeter memory(model, optimizer);
///   for (...) { const MemoryRegion counted(memory.account()); take a step }
///   memory.tell(result);
///
/// What a run does beside its steps lies outside of the regions and does not count: tests, checkpoints, the
/// search for a fault. Within a step, what only measures is Uncounted: the FP32 shadow, histograms, the
/// tracer. A batch is workspace, until a recorded op has it as an input; then it is one of the activations. A
/// cell that was made before the first step (the state of the scaler, the learning rate: some dozens of
/// bytes) does not count. The histories of delayed FP8 scales count as optimizer.
namespace tinymp::train {

class MemoryMeter {
 public:
  /// Counts what is there already: the optimizer's arenas and the buffers of the model. A watcher sees that, too.
  MemoryMeter(const nn::Module& model, const Optimizer& optimizer, MemoryWatcher* watcher = nullptr);
  /// The watcher sees no more, though blocks that live on have the account.
  ~MemoryMeter() { account_->set_watcher(nullptr); }
  MemoryMeter(const MemoryMeter&) = delete;
  MemoryMeter& operator=(const MemoryMeter&) = delete;

  const std::shared_ptr<MemoryAccount>& account() const { return account_; }
  /// Writes the peaks so far into `result`; nothing when no step was counted.
  void tell(RunResult& result) const;
  /// What ZeRO shares: masters and moments, at their most.
  std::int64_t state_bytes() const {
    return account_->peak(MemoryKind::masters) + account_->peak(MemoryKind::optimizer);
  }

 private:
  std::shared_ptr<MemoryAccount> account_ = std::make_shared<MemoryAccount>();
};

}  // namespace tinymp::train
